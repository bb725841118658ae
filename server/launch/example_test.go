package launch_test

import (
	"os"

	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/server/launch"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The main function of a server with stored queries calls Main, which reads the command line. With
// --version it prints the version and returns. Without --version, the server runs until a signal
// ends it.
func ExampleMain() {
	os.Args = []string{"omnigraph-server", "--version"}
	launch.Main(launch.Program{
		Catalogs: []*tool.Catalog{code.Catalog()},
		Sample:   launch.Sample{Graph: "code", Query: "heaviest_packages"},
	})
	// Output: omnigraph-server version (devel)
}
