package diag

// Most is how many faults of one source a run lists: past it, reading them helps
// nobody, and a broken file of many megabytes would fill the memory with them.
const Most = 1000

// Cut returns a sorted list cut to its first n, with a note where the next one was.
func (l List) Cut(n int) List {
	if len(l) <= n {
		return l
	}
	next := l[n]
	return append(l[:n:n], Diagnostic{
		Code: next.Code, Severity: Note, Span: next.Span,
		Message: "there are more faults, from here on not listed", Help: "fix those above first",
	})
}
