package app

import (
	"fmt"
	"io"
	"runtime"

	"github.com/poolwright/poolwright/controller/ledger"
)

// origin is what decisions of this program depend on beside what ledgers keep.
func origin(engine string) ledger.Origin {
	return ledger.Origin{Version: release(), Engine: engine, Architecture: runtime.GOARCH}
}

// openLedger continues the ledger of serve, or begins one. It returns the sequence number
// of the last entry, and says what a crash left behind.
func openLedger(c ServeConfig, out io.Writer) (*ledger.Writer, uint64, error) {
	w, found, err := ledger.Open(ledger.Config{Path: c.Ledger, Origin: origin(c.Engine)})
	if err != nil {
		return nil, 0, err
	}
	if found.Torn != nil {
		_, err = fmt.Fprintf(out, "%s: %s; cut off\n", found.Torn.Position, found.Torn.Reason)
	}
	return w, found.Sequence, err
}
