package model

import (
	_ "embed"
	"strings"
)

//go:embed reserved_tools.txt
var reservedTools string

// ReservedTools returns the tool names that stored queries must not have, because every graph
// serves built-in tools with these names. The generator does not import the tools;
// TestReservedTools in cmd/gq writes the list from them.
func ReservedTools() []string { return strings.Fields(reservedTools) }
