// Command validateproto writes buf/validate/validate.proto to standard output. No
// Go module carries the file, so it is printed from the descriptor that is compiled
// into the generated Go code.
package main

import (
	"fmt"
	"io"
	"os"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/jhump/protoreflect/v2/protoprint"
)

const header = `// Copyright 2023-2026 Buf Technologies, Inc.
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

// Printed from the descriptor in the generated Go code, so comments are missing.

`

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "validateproto:", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	var printer protoprint.Printer
	return printer.PrintProtoFile(validate.File_buf_validate_validate_proto, w)
}
