package diag

// Report is a list of diagnostics in JSON, with the number of diagnostics of each severity.
type Report struct {
	Diagnostics []Reported `json:"diagnostics"`
	Errors      int        `json:"errors"`
	Warnings    int        `json:"warnings"`
	Notes       int        `json:"notes"`
}

// Reported is a diagnostic with the edits that fix it.
type Reported struct {
	Diagnostic
	Edits []Edit `json:"edits,omitempty"` // text changes that fix the fault
}

// NewReport makes a report of a list. The map `edits` holds fixes by their diagnostics' indexes in
// the list; it may be nil.
func NewReport(list List, edits map[int][]Edit) Report {
	r := Report{Diagnostics: make([]Reported, len(list))}
	for i, d := range list {
		r.Diagnostics[i] = Reported{d, edits[i]}
		switch d.Severity {
		case Error:
			r.Errors++
		case Warning:
			r.Warnings++
		case Note:
			r.Notes++
		}
	}
	return r
}
