package infer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// findKey chooses the key among the columns that could be it: by its name, and else the first one.
func (t *table) findKey() {
	if t.isNeo4jEdges() || t.kind == edgeKind {
		return
	}
	var best *column
	score := 0
	for i, c := range t.columns {
		if !c.canBeKey() {
			continue
		}
		s := 1 + keyName(c.name, t.typ)
		if i == 0 {
			s += 2
		}
		if s > score {
			best, score = c, s
		}
	}
	if best == nil || score < 3 && best.typ == nil && t.rows < 3 {
		return
	}
	t.key = []*column{best}
	t.keyText = fmt.Sprintf("%s of %s distinct", count(best.distinct), count(t.rows))
}

// isNeo4jEdges reports whether the table has the edges of Neo4j's admin importer.
func (t *table) isNeo4jEdges() bool {
	has := func(name string) bool {
		return slices.ContainsFunc(t.columns, func(c *column) bool { return c.name == name })
	}
	return has(":START_ID") && has(":END_ID")
}

// keyName says how much a name looks like that of a key of a type.
func keyName(name, typ string) int {
	words := wordsOf(name)
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	own := strings.ToLower(typ)
	joined := strings.Join(words, "")
	switch {
	case joined == "id" || joined == own+"id" || joined == "uuid" || joined == "key":
		return 6
	case len(words) > 1 && slices.Contains(idWords, last) && strings.HasPrefix(joined, own):
		return 5
	case len(words) == 1 && slices.Contains(idWords, last):
		return 4
	case joined == own:
		return 3
	case slices.Contains(idWords, last):
		return 1
	}
	return 0
}

// idWords are words that end the names of keys.
var idWords = []string{"id", "code", "key", "no", "nr", "number", "num", "uuid", "slug", "iata", "icao", "iso", "sku", "isbn", "imo", "symbol", "email", "login", "username"}

// selfWords name references to another row of the same table.
var selfWords = []string{"parent", "manager", "reports", "boss", "supervisor", "lead", "predecessor", "previous", "next", "reply", "replyto", "evolves", "ancestor", "component", "assembly", "child"}

// findReferences finds the columns whose values all occur as the key of a table.
func findReferences(tables []*table) {
	declaredReferences(tables)
	for _, t := range tables {
		if t.kind == edgeKind {
			graphMLEnds(t, tables)
		}
		if t.kind != "" || referencesAreDeclared(t, tables) {
			continue
		}
		for _, c := range t.columns {
			if c.values == 0 || c.overflow || c.long || c.doubt != "" || len(t.key) == 1 && t.key[0] == c && !strings.Contains(c.name, "_") {
				continue
			}
			var found []*reference
			for _, to := range tables {
				if ref := c.refersTo(to); ref != nil {
					found = append(found, ref)
				}
			}
			switch {
			case len(found) == 1:
				c.ref = found[0]
			case len(found) == 0:
				c.ref = c.byRole(tables)
				if c.ref == nil {
					c.noteNearReference(tables)
				}
			default:
				// Several tables have the values; the name decides.
				named := slices.DeleteFunc(slices.Clone(found), func(r *reference) bool { return !fits(c, r.to) })
				if len(named) == 1 {
					c.ref = named[0]
				}
			}
			if c.ref != nil {
				t.refs = append(t.refs, c.ref)
			}
		}
	}
}

// refersTo returns the reference to a table that the column is, or nil.
func (c *column) refersTo(to *table) *reference {
	if len(to.key) != 1 || to.key[0] == c {
		return nil
	}
	key := to.key[0]
	if kindOf(c) != kindOf(key) && !(kindOf(key) == value.I64 && kindOf(c) == value.F64) || c.included(key) != c.distinct {
		return nil
	}
	named := fits(c, to)
	if c.table == to && !named {
		named = slices.ContainsFunc(wordsOf(c.name), func(w string) bool { return slices.Contains(selfWords, w) })
	}
	// A text that only occurs as the key of one table needs no name.
	telling := kindOf(key) == value.String && to != c.table && (c.distinct >= 10 || c.distinct >= 3 && 2*c.distinct >= key.distinct)
	if !named && !telling {
		return nil
	}
	return &reference{columns: []*column{c}, to: to, by: to.key, why: oneLine(fmt.Sprintf("all %s values of %s occur in %s.%s", count(c.distinct), c.name, path.Base(to.source), key.name))}
}

// peopleTypes are names of types that columns with roleWords refer to.
var (
	peopleTypes = []string{"user", "person", "member", "account", "employee", "customer", "profile", "actor", "contact", "player", "student"}
	roleWords   = []string{"author", "owner", "creator", "follower", "followee", "followed", "friend", "sender", "recipient", "receiver", "buyer", "seller", "assignee", "reporter", "reviewer", "editor", "member", "user", "person", "by"}
)

// byRole returns the reference of a column such as author_id, whose name ends in id and names no table: to the only table
// whose key has all its values, or to the only such table of people.
func (c *column) byRole(tables []*table) *reference {
	words := wordsOf(c.name)
	few := c.distinct < 3 && c.name != ":START_ID" && c.name != ":END_ID" // which are ends in the files of Neo4j
	if few || len(words) < 2 || words[len(words)-1] != "id" {
		return nil
	}
	var all, people []*table
	for _, to := range tables {
		if len(to.key) != 1 {
			continue
		}
		if fits(c, to) {
			return nil
		}
		if to.key[0] != c && kindOf(to.key[0]) == kindOf(c) && c.included(to.key[0]) == c.distinct {
			all = append(all, to)
			if slices.Contains(peopleTypes, strings.ToLower(to.typ)) {
				people = append(people, to)
			}
		}
	}
	if len(all) > 1 && slices.Contains(roleWords, words[len(words)-2]) {
		all = people
	}
	if len(all) != 1 {
		return nil
	}
	key := all[0].key[0]
	return &reference{columns: []*column{c}, to: all[0], by: all[0].key, why: oneLine(fmt.Sprintf("all %s values of %s occur in %s.%s, and the name ends in id", count(c.distinct), c.name, path.Base(all[0].source), key.name))}
}

// noteNearReference notes that a column names a table, but not all its values occur there. Of several such tables it notes
// the one with the most of them.
func (c *column) noteNearReference(tables []*table) {
	most := c.distinct / 2
	for _, to := range tables {
		if len(to.key) != 1 || to.key[0] == c || to == c.table || kindOf(to.key[0]) != kindOf(c) || !fits(c, to) {
			continue
		}
		if n := c.included(to.key[0]); n > most && n < c.distinct {
			most = n
			c.note = fmt.Sprintf("no edge, because %s of %s values do not occur in %s.%s", count(c.distinct-n), count(c.distinct), path.Base(to.source), to.key[0].name)
		}
	}
}

// kindOf returns the kind of the values of a column.
func kindOf(c *column) value.Kind {
	if c.typ == nil {
		return value.String
	}
	return c.typ.typ.Kind
}

// fits reports whether the name of a column names a table or its key: port, port_id, homePort or unlocode for ports.unlocode.
func fits(c *column, to *table) bool {
	words := wordsOf(c.name)
	own := wordsOf(to.typ)
	key := wordsOf(to.key[0].name)
	joined := strings.Join(words, " ")
	if joined == strings.Join(key, " ") && !slices.Contains([]string{"id", "key", "code", "no", "name", "number"}, joined) {
		return true
	}
	words = stem(c, to.key[0], to)
	if n := len(words) - len(own); n >= 0 {
		tail := slices.Clone(words[n:])
		tail[len(tail)-1] = singular(tail[len(tail)-1])
		if slices.Equal(tail, own) {
			return true
		}
	}
	// The last word of a type of several words, such as employee of company_employees.
	return len(own) > 1 && len(words) > 0 && words[len(words)-1] == own[len(own)-1]
}

// stem returns the words of a reference without those of the key: home, port for home_port_id or home_port_unlocode.
func stem(c, by *column, to *table) []string {
	words, key := wordsOf(c.name), wordsOf(by.name)
	if n := len(words) - len(key); n > 0 && slices.Equal(words[n:], key) {
		words = words[:n]
	}
	for len(words) > 1 && slices.Contains(idWords, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

// findCompositeKeys looks for two columns that identify the rows, in tables without a key: two references, or a reference and
// another column.
func findCompositeKeys(ctx context.Context, tables []*table) error {
	for _, t := range tables {
		if len(t.key) > 0 || len(t.refs) == 0 || t.join != nil {
			continue
		}
		refs := slices.DeleteFunc(slices.Clone(t.refs), func(r *reference) bool { return len(r.columns) > 1 })
		var pairs [][2]int
		at := map[*column]int{}
		for i, c := range t.columns {
			at[c] = i
		}
		usable := func(c *column) bool {
			return c.complete() && !c.isOptional() && !c.long && (c.typ == nil || kindOf(c) == value.I64 || kindOf(c) == value.Date)
		}
		for i, a := range refs {
			for _, b := range refs[i+1:] {
				if usable(a.columns[0]) && usable(b.columns[0]) {
					pairs = append(pairs, [2]int{at[a.columns[0]], at[b.columns[0]]})
				}
			}
		}
		for _, a := range refs {
			for i, b := range t.columns {
				if b.ref == nil && usable(a.columns[0]) && usable(b) {
					pairs = append(pairs, [2]int{at[a.columns[0]], i})
				}
			}
		}
		pair, err := t.uniquePair(ctx, pairs)
		if err != nil {
			return err
		}
		if pair == nil {
			if t.isNeo4jEdges() && len(t.refs) == 2 {
				t.join, t.keyText = t.refs, "the header has :START_ID and :END_ID, and some pairs of them occur twice, so import it with --mode append"
			}
			if t.kind == edgeKind && len(t.refs) == 2 {
				t.join, t.keyText = t.refs, "some pairs of nodes have several edges, so import it with --mode append"
			}
			continue
		}
		a, b := t.columns[pair[0]], t.columns[pair[1]]
		t.keyText = oneLine(fmt.Sprintf("%s and %s: %s of %s pairs distinct", a.name, b.name, count(t.rows), count(t.rows)))
		if a.ref != nil && b.ref != nil && len(t.refs) == 2 {
			t.join, t.distinct = []*reference{a.ref, b.ref}, true
			continue
		}
		t.key = []*column{a, b}
	}
	return nil
}

// uniquePair reads the table again and returns the first pair of columns whose values identify the rows, or nil.
func (t *table) uniquePair(ctx context.Context, pairs [][2]int) (*[2]int, error) {
	if len(pairs) == 0 || t.rows > maxDistinct {
		return nil, nil
	}
	r, err := record.Open(t.file, record.Options{Records: t.records})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	r.Select(names)
	seen := make([]map[uint64]bool, len(pairs))
	for i := range seen {
		seen[i] = map[uint64]bool{}
	}
	for n := 0; ; n++ {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), r.Close())
		}
		for i, p := range pairs {
			if seen[i] == nil {
				continue
			}
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:8], hashOf(rec.Values[p[0]].String()))
			binary.LittleEndian.PutUint64(b[8:], hashOf(rec.Values[p[1]].String()))
			h := maphash.Bytes(seed, b[:])
			if seen[i][h] {
				seen[i] = nil
				continue
			}
			seen[i][h] = true
		}
	}
	for i := range pairs {
		if seen[i] != nil {
			return &pairs[i], r.Close()
		}
	}
	return nil, r.Close()
}
