//go:build tools

// Package omnigraph pins the modules that nothing in the module imports and that its users need.
package omnigraph

// In a module that requires this one, go mod tidy looks for the packages that the tests of its
// dependencies import. A test of gopkg.in/yaml.v2 needs the package below. Without a requirement
// here, go mod tidy would look up the version of that package on the network.
import _ "github.com/kr/text"
