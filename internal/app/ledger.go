package app

import (
	"fmt"
	"runtime"

	"github.com/poolwright/poolwright/controller/ledger"
)

// origin is what decisions of this program depend on beside what ledgers keep.
func origin(engine string) ledger.Origin {
	return ledger.Origin{Version: release(), Engine: engine, Architecture: runtime.GOARCH}
}

// openLedger continues the ledger of serve, or begins one. It returns the sequence number
// of the last entry, and says what a crash left behind, if anything.
func openLedger(c ServeConfig) (w *ledger.Writer, sequence uint64, torn string, err error) {
	w, found, err := ledger.Open(ledger.Config{Path: c.Ledger, Origin: origin(c.Engine)})
	if err != nil {
		return nil, 0, "", err
	}
	if found.Torn != nil {
		torn = fmt.Sprintf("%s: %s; cut off", found.Torn.Position, found.Torn.Reason)
	}
	return w, found.Sequence, torn, nil
}
