package diag

// Entry documents a code.
type Entry struct {
	Code        Code
	Title       string // the fault in a few words
	Explanation string // the rule in full
	Example     string // a source text that yields the code; empty if no text can
}
