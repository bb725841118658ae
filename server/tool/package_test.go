package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestPackageFaults uses packages whose contracts do not fit the program or the generated Go.
func TestPackageFaults(t *testing.T) {
	for _, tt := range []struct{ contract, want string }{
		{`{"format": 99, "queries": []}`, "gq generate"},
		{`{"format": 1, "queries": [`, "catalog.json"},
		{`{"format": 1, "queries": []}`, "has no query find, which the generated Go calls; run gq generate"},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, tt.want) {
					t.Errorf("%s: panics with %q, expected %q", tt.contract, p, tt.want)
				}
			}()
			tool.NewPackage(tt.contract).Query("find")
		}()
	}
}
