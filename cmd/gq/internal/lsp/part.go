package lsp

import "strings"

// part is a part of a text by its offsets.
type part struct{ from, to int }

// wholeBelow is a size in bytes. The server checks a smaller document whole after each change,
// which takes a few milliseconds. Of a larger one, it checks only the changed queries until the
// next check of the graph. Faults in stray text between queries depend on the text before it, so
// they are exact only after the check of the graph.
const wholeBelow = 16 << 10

// changedPart returns the part of a document to check: the whole of a small document or of a schema, and
// otherwise the queries that changed since the last check, with the comments before them.
func (d *document) changedPart() part {
	text := d.text.content
	whole := part{0, len(text)}
	if len(text) < wholeBelow || !isQueries(d.path) || d.from > d.to {
		return whole
	}
	from, to := min(d.from, len(text)), min(d.to, len(text))
	// As in the parser, the word `query` at the start of a line begins a query.
	const begins, ends = "\nquery ", "\n}"
	start := 0 // in the first query, the part begins with the text
	if query := strings.LastIndex(text[:from], begins); query >= 0 {
		// Comments between the end of the previous query and this query belong to this query.
		if end := strings.LastIndex(text[:query], ends); end >= 0 {
			start = end + len(ends)
		}
	}
	// If no query ends between the change and the next query, the change is before that query
	// and may be in its comments. So that query belongs to the part.
	end := to
	for {
		next := strings.Index(text[end:], begins)
		if next < 0 {
			return part{start, len(text)}
		}
		if last := strings.LastIndex(text[end:end+next], ends); last >= 0 {
			end += last + len(ends)
			break
		}
		end += next + len(begins)
	}
	return part{start, end}
}

// The method `only` replaces the text outside of a part by blanks, in the query file of a job. Line
// ends stay, so that all places stay the same.
func (j *job) only(p part) {
	for i := range j.catalog.Queries {
		src := &j.catalog.Queries[i]
		if p.from == 0 && p.to == len(src.Text) || p.to > len(src.Text) {
			return
		}
		src.Text = blank(src.Text[:p.from]) + src.Text[p.from:p.to] + blank(src.Text[p.to:])
	}
}

// blank replaces all characters except line ends by blanks, byte by byte.
func blank(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}
