package lint

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Level is the severity of a rule's findings, or Off.
type Level uint8

// The levels of a rule.
const (
	Off Level = iota // the rule reports nothing
	Note
	Warning
	Error
)

// Levels lists the names of the levels as gq.yaml writes them.
var Levels = []string{"off", "note", "warning", "error"}

// String returns off, note, warning or error.
func (l Level) String() string { return Levels[l] }

// ParseLevel returns the level with that name and reports whether there is one.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(Levels, name)
	return Level(max(i, 0)), i >= 0
}

// severity returns the severity of the findings of a rule with this level.
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
	DefaultMaxToolName    = 40     // characters; clients put the server's name before it
	DefaultMaxDescription = 1024   // characters
	DefaultTokenBudget    = 20_000 // tokens of the whole tools/list response; the built-in tools take about half
)

// BytesPerToken is the number of bytes per token for converting sizes to tokens. English text and
// JSON average about four bytes a token with common tokenizers. The estimate is accurate to about
// 25% in either direction.
const BytesPerToken = 4

// Config changes rules from their defaults.
type Config struct {
	Levels map[diag.Code]Level // by code; a rule that is not in it has its default level

	// Options of single rules; 0 means the default.
	MaxToolName    int // for L109, in characters
	MaxDescription int // for L111, in characters
	TokenBudget    int // for L203, in tokens
}

// Only returns a configuration that turns off every rule except one.
func Only(code diag.Code) Config {
	c := Config{Levels: map[diag.Code]Level{}}
	for _, r := range Rules {
		if r.Code != code {
			c.Levels[r.Code] = Off
		}
	}
	return c
}

// Rows returns a configuration that leaves only the rules about rows and numbers that the author of a query
// probably does not want.
func Rows() Config {
	c := Config{Levels: map[diag.Code]Level{}}
	for _, r := range Rules {
		if !r.rows {
			c.Levels[r.Code] = Off
		}
	}
	return c
}

// level returns the level of a rule: the configured one, or else the default.
func (c Config) level(r *Rule) Level {
	if l, ok := c.Levels[r.Code]; ok {
		return l
	}
	return r.Level
}

// maxToolName returns the maximum number of characters in a tool's name.
func (c Config) maxToolName() int { return cmp.Or(c.MaxToolName, DefaultMaxToolName) }

// maxDescription returns the maximum number of characters in a description.
func (c Config) maxDescription() int { return cmp.Or(c.MaxDescription, DefaultMaxDescription) }

// tokenBudget returns the maximum number of tokens of tools/list.
func (c Config) tokenBudget() int { return cmp.Or(c.TokenBudget, DefaultTokenBudget) }
