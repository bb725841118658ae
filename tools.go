//go:build tools

// Package omnigraph pins the modules that nothing in the module imports and that its users need.
package omnigraph

// go mod tidy of a module that requires this one looks for the packages that the tests of its
// dependencies import. A test of gopkg.in/yaml.v2 reaches this package, and without a requirement
// here its version is looked up on the network.
import _ "github.com/kr/text"
