// Command omnigraph-server serves the graphs of a cluster.yaml over MCP and REST, with the stored
// queries that were generated into this module.
package main

import (
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/server/launch"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func main() {
	launch.Main(launch.Program{
		Catalogs: []*tool.Catalog{code.Catalog()},
		Sample:   launch.Sample{Graph: "code", Query: "heaviest_packages"},
	})
}
