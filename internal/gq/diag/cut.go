package diag

// Most is the maximum number of diagnostics that are listed for one source. More would not help
// a reader, and the diagnostics of a broken file of many megabytes would fill the memory.
const Most = 1000

// Cut returns the first n diagnostics of a sorted list. If there are more, a note marks the
// position of the next one.
func (l List) Cut(n int) List {
	if len(l) <= n {
		return l
	}
	next := l[n]
	return append(l[:n:n], Diagnostic{
		Code: next.Code, Severity: Note, Span: next.Span,
		Message: "the list ends here, because there are too many errors", Help: "fix the errors above first",
	})
}
