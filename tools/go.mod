module github.com/poolwright/poolwright/tools

go 1.26
