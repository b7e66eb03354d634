package architecture

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// root is the top of the repository.
var root = os.DirFS("../..")

// walk calls visit with every file of the tree, in order, but not with those of
// hidden folders, of test data, of others' definitions and of what is built.
func walk(tree fs.FS, visit func(name string) error) error {
	return fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return visit(name)
		case ignored(name):
			return fs.SkipDir
		}
		return nil
	})
}

func ignored(folder string) bool {
	switch base := path.Base(folder); {
	case folder == ".":
		return false
	case folder == "bin", folder == "dist", folder == "third_party", base == "testdata", base == "node_modules":
		return true
	default:
		// .ci is ours, .git is not.
		return strings.HasPrefix(base, ".") && base != ".ci"
	}
}

// nested tells whether a folder is in a module of its own.
func nested(tree fs.FS, folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, err := fs.Stat(tree, path.Join(folder, "go.mod")); err == nil {
			return true
		}
	}
	return false
}
