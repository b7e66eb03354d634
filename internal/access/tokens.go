package access

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tokens are those of a file, by their digests: how long it takes to find one tells nothing
// of it.
type tokens map[[sha256.Size]byte]User

// leastToken is the length of the shortest token: a shorter one can be guessed.
const leastToken = 16

// readTokens reads a file of tokens. Errors name lines, and nothing of what is in them.
func readTokens(text []byte) (tokens, error) {
	found := tokens{}
	first := map[[sha256.Size]byte]int{}
	var errs []error
	number := 0
	for line := range bytes.Lines(text) {
		number++
		fields := strings.Split(strings.TrimSpace(string(line)), ",")
		if len(fields) == 1 && fields[0] == "" {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		key := sha256.Sum256([]byte(fields[0]))
		switch {
		case len(fields[0]) < leastToken:
			errs = append(errs, fmt.Errorf("line %d: a token of less than %d characters", number, leastToken))
		case len(fields) < 2 || fields[1] == "":
			errs = append(errs, fmt.Errorf("line %d: no user: a line is token,user[,group]…", number))
		case slices.ContainsFunc(fields[1:], reserved):
			errs = append(errs, fmt.Errorf("line %d: a name that begins with system:, which Kubernetes alone gives", number))
		case first[key] > 0:
			errs = append(errs, fmt.Errorf("line %d: the token of line %d", number, first[key]))
		default:
			found[key], first[key] = known(fields[1], fields[2:]...), number
		}
	}
	if number == 0 || len(found) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no token in it"))
	}
	return found, errors.Join(errs...)
}

// user is whom a token belongs to.
func (t tokens) user(token string) (User, bool) {
	u, ok := t[sha256.Sum256([]byte(token))]
	return u, ok
}
