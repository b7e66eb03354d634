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

// cutOff says what a crash left behind in a ledger, if anything.
func cutOff(found ledger.Found) string {
	if found.Torn == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s; cut off", found.Torn.Position, found.Torn.Reason)
}
