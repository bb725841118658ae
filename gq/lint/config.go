package lint

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// Level says whether a rule reports, and how severely.
type Level uint8

// The levels of a rule.
const (
	Off Level = iota
	Note
	Warning
	Error
)

// Levels are the names of the levels, as gq.yaml spells them.
var Levels = []string{"off", "note", "warning", "error"}

// String returns off, note, warning or error.
func (l Level) String() string { return Levels[l] }

// ParseLevel returns the level of that name, and whether there is one.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(Levels, name)
	return Level(max(i, 0)), i >= 0
}

func (l Level) severity() diag.Severity {
	switch l {
	case Off, Note:
		return diag.Note
	case Warning:
		return diag.Warning
	case Error:
	}
	return diag.Error
}

// The defaults of the options.
const (
	DefaultMaxToolName    = 40     // characters: clients put the name of the server before it
	DefaultMaxDescription = 1024   // characters
	DefaultTokenBudget    = 10_000 // tokens of tools/list
)

// BytesPerToken is the estimate by which sizes become tokens: English text and JSON
// come to about four bytes a token with the tokenizers in use. It errs by a quarter
// either way.
const BytesPerToken = 4

// Config sets rules apart from their defaults.
type Config struct {
	Levels map[diag.Code]Level

	// The options of rules; 0 stands for the default.
	MaxToolName    int // of L109, in characters
	MaxDescription int // of L111, in characters
	TokenBudget    int // of L203, in tokens
}

// Only returns a configuration in which all rules but one are off.
func Only(code diag.Code) Config {
	c := Config{Levels: map[diag.Code]Level{}}
	for _, r := range Rules {
		if r.Code != code {
			c.Levels[r.Code] = Off
		}
	}
	return c
}

func (c Config) level(r *Rule) Level {
	if l, ok := c.Levels[r.Code]; ok {
		return l
	}
	return r.Level
}

func (c Config) maxToolName() int    { return cmp.Or(c.MaxToolName, DefaultMaxToolName) }
func (c Config) maxDescription() int { return cmp.Or(c.MaxDescription, DefaultMaxDescription) }
func (c Config) tokenBudget() int    { return cmp.Or(c.TokenBudget, DefaultTokenBudget) }
