package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	e := effort{repeats: 9, turn: 5 * time.Millisecond}
	results, err := study(e)
	if err != nil {
		fail(err)
	}
	owns, err := measureOwn(e)
	if err != nil {
		fail(err)
	}
	fmt.Print(report(results, owns, e))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
