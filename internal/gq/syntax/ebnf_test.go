package syntax

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
)

// TestGrammarsAreClosed checks that a grammar defines every production that it uses, and uses
// every production except the first.
func TestGrammarsAreClosed(t *testing.T) {
	for _, g := range [][]Production{SchemaGrammar(), QueryGrammar()} {
		s := newSentences(t, g)
		named := map[string]bool{g[0].Name: true}
		for name, rule := range s.rules {
			rule.names(func(n string) {
				if n != name {
					named[n] = true
				}
				if s.rules[n] == nil {
					t.Errorf("%s names %s, which %s does not define", name, n, g[0].Name)
				}
			})
		}
		for _, p := range g {
			if !named[p.Name] {
				t.Errorf("%s: nothing names %s", g[0].Name, p.Name)
			}
		}
		for name := range s.tokens {
			if !slices.ContainsFunc(Tokens, func(d TokenDoc) bool { return d.Name == name }) {
				t.Errorf("%s: the token <%s> is not documented", g[0].Name, name)
			}
		}
	}
}

// TestGrammarsMatchParser makes random sentences of the printed grammars and checks that the
// parsers accept every one. The reference page must not promise syntax that they reject.
func TestGrammarsMatchParser(t *testing.T) {
	queries := newSentences(t, QueryGrammar())
	schemas := newSentences(t, SchemaGrammar())
	check := func(s *sentences, name string, parse func(tokens []Token) error) {
		t.Helper()
		for i := range 250 {
			s.rand = rand.New(rand.NewPCG(uint64(i), 1))
			var out []string
			for ok := false; !ok; {
				out, ok = s.make(&expr{kind: ref, text: name}, 16)
			}
			text := strings.Join(out, " ")
			if swallowed(out) {
				continue
			}
			sc := scan(nil, "x", text)
			if len(sc.faults) > 0 {
				t.Fatalf("%s\n%v", text, sc.faults)
			}
			if err := parse(sc.tokens); err != nil {
				t.Fatalf("%s does not take\n%s\n%v", name, text, err)
			}
		}
	}
	check(queries, "Query", func(tokens []Token) error {
		_, err := plainGrammar.query().ParseFromLexer(peeking(nil, tokens))
		return err
	})
	check(schemas, "Interface", func(tokens []Token) error {
		_, err := plainGrammar.traits().ParseFromLexer(peeking(nil, tokens))
		return err
	})
	check(schemas, "Node", func(tokens []Token) error {
		_, err := plainGrammar.nodeType().ParseFromLexer(peeking(nil, tokens))
		return err
	})
	check(schemas, "Edge", func(tokens []Token) error {
		_, err := plainGrammar.edgeType().ParseFromLexer(peeking(nil, tokens))
		return err
	})
	for _, s := range []*sentences{queries, schemas} {
		for name, rule := range s.rules {
			rule.taken(func(e *expr) {
				if e.kind == choice && name != s.first {
					for i, alt := range e.parts {
						if !alt.made {
							t.Errorf("%s: alternative %d of %s was never tried", s.first, i+1, name)
						}
					}
				}
			})
		}
	}
}

// swallowed reports whether the parser reads a part of the sentence in another way than the
// productions say. The reference page documents one case: the parser takes $a contains $b, $a in $b
// or $a matches $b, followed by a question mark, for a traversal.
func swallowed(words []string) bool {
	for i := range len(words) - 3 {
		if slices.Contains(blockKeywords, words[i]) && words[i+1] == "{" && continuesClause(words, i) {
			return true
		}
		if words[i] == "(" && (strings.HasPrefix(words[i+1], "$") && words[i+2] == ")" || Name == wordType(words[i+1]) && words[i+2] != "(") {
			return true // at the start of a clause, this is taken for a node pattern of another language
		}
		if words[i] == "-" && words[i+1] == "[" {
			return true // this is taken for an arrow of another language
		}
		if i > 0 && len(words[i]) > 1 && words[i][0] == '-' && words[i][1] != '>' && !strings.Contains(": ( , [ = != < <= > >= + - * / %", words[i-1]) {
			return true // the parser subtracts this number from the operand before it
		}
		if strings.HasPrefix(words[i], "$") && slices.Contains(wordOperators, words[i+1]) &&
			strings.HasPrefix(words[i+2], "$") && words[i+3] == "?" && (i == 0 || words[i-1] != ".") {
			return true
		}
	}
	return false
}

// continuesClause reports whether the block at words[i] is in a list of clauses and an operator or
// an is follows it. The parser takes such a block for a clause.
func continuesClause(words []string, i int) bool {
	depth, end := 0, i+1
	for ; end < len(words); end++ {
		switch words[end] {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if end+1 >= len(words) || !strings.Contains(" + - * / % = != < <= > >= contains starts_with in is matches ", " "+words[end+1]+" ") {
		return false
	}
	for depth, i = 0, i-1; i > 0; i-- {
		switch words[i] {
		case "}", ")", "]":
			depth++
		case "{", "(", "[":
			if depth--; depth < 0 {
				return words[i] == "{" && (words[i-1] == "match" || words[i-1] == "optional" || slices.Contains(blockKeywords, words[i-1]))
			}
		}
	}
	return false
}

// wordType returns the token type of a word. The word must be a single token.
func wordType(word string) lexer.TokenType {
	if tokens := scan(nil, "x", word).tokens; len(tokens) == 1 && word != "true" && word != "false" {
		return tokens[0].Type
	}
	return 0
}

// The kinds of EBNF expressions.
const (
	sequence = iota
	choice
	ref
	token
	literal
	optional
	star
	plus
	ahead    // (?= x)
	notAhead // (?! x)
)

type expr struct {
	kind  int
	text  string
	parts []*expr
	made  bool // it has been used in some sentence
}

func (e *expr) each(visit func(*expr)) {
	visit(e)
	for _, p := range e.parts {
		p.each(visit)
	}
}

// taken visits the same expressions as `each`, except those inside lookaheads.
func (e *expr) taken(visit func(*expr)) {
	if e.kind == ahead || e.kind == notAhead {
		return
	}
	visit(e)
	for _, p := range e.parts {
		p.taken(visit)
	}
}

func (e *expr) names(visit func(string)) {
	e.each(func(e *expr) {
		if e.kind == ref {
			visit(e.text)
		}
	})
}

// sentences makes random sentences of a grammar.
type sentences struct {
	first  string
	rules  map[string]*expr
	depth  map[string]int // the least nesting of productions below each one
	tokens map[string]bool
	rand   *rand.Rand
}

func newSentences(t *testing.T, g []Production) *sentences {
	t.Helper()
	s := &sentences{first: g[0].Name, rules: map[string]*expr{}, depth: map[string]int{}, tokens: map[string]bool{}}
	for _, p := range g {
		r := &reader{text: p.Rule}
		s.rules[p.Name] = r.alternatives()
		if r.rest() != "" {
			t.Fatalf("%s: cannot read %q", p.Name, r.rest())
		}
		s.rules[p.Name].each(func(e *expr) {
			if e.kind == token {
				s.tokens[e.text] = true
			}
		})
		s.depth[p.Name] = math.MaxInt32
	}
	for again := true; again; {
		again = false
		for name, rule := range s.rules {
			if d := s.least(rule) + 1; d < s.depth[name] {
				s.depth[name], again = d, true
			}
		}
	}
	return s
}

func (s *sentences) least(e *expr) int {
	switch e.kind {
	case ref:
		return s.depth[e.text]
	case choice:
		d := math.MaxInt32
		for _, p := range e.parts {
			d = min(d, s.least(p))
		}
		return d
	case sequence, plus:
		d := 0
		for _, p := range e.parts {
			d = max(d, s.least(p))
		}
		return d
	}
	return 0
}

// words holds the texts of each token. The texts for names satisfy every lookahead.
var words = map[string][]string{
	"name":     {"a", "b_2", "key", "unique", "index", "limit", "card_"},
	"typename": {"T", "Person2"},
	"var":      {"$v", "$_"},
	"int":      {"0", "3", "-12"},
	"float":    {"1.5", "-0.25"},
	"string":   {`"s"`, `"é\n\""`},
	"relation": {"=", "!=", "<", "<=", ">", ">="},
}

// make returns a random sentence. The result is false if a lookahead fails for it.
func (s *sentences) make(e *expr, budget int) ([]string, bool) {
	e.made = true
	switch e.kind {
	case literal:
		return []string{e.text}, true
	case token:
		w := words[e.text]
		return []string{w[s.rand.IntN(len(w))]}, true
	case ref:
		if e.text == "EnumValue" {
			return s.enumValue()
		}
		return s.make(s.rules[e.text], budget-1)
	case choice:
		fits := slices.DeleteFunc(slices.Clone(e.parts), func(p *expr) bool { return s.least(p) > max(budget, s.least(e)) })
		return s.make(fits[s.rand.IntN(len(fits))], budget)
	case optional, star, plus:
		n := 0
		switch {
		case e.kind == plus:
			n = 1 + s.rand.IntN(2)
		case s.least(e.parts[0]) <= budget && budget > 0:
			n = s.rand.IntN(3)
		}
		if e.kind == optional {
			n = min(n, 1)
		}
		var out []string
		for range n {
			more, ok := s.make(e.parts[0], budget-1) // a lower budget keeps the sentences short
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, true
	case sequence:
		for range 50 {
			if out, ok := s.sequence(e, budget); ok {
				return out, true
			}
		}
		return nil, false
	}
	return nil, true
}

func (s *sentences) sequence(e *expr, budget int) ([]string, bool) {
	var out []string
	type look struct {
		at int
		e  *expr
	}
	var looks []look
	for _, p := range e.parts {
		if p.kind == ahead || p.kind == notAhead {
			looks = append(looks, look{len(out), p})
			continue
		}
		more, ok := s.make(p, budget)
		if !ok {
			return nil, false
		}
		out = append(out, more...)
	}
	for _, l := range looks {
		if begins(l.e.parts[0], out[l.at:]) < 0 == (l.e.kind == ahead) {
			return nil, false
		}
	}
	return out, true
}

// enumValue returns an enum value. It consists of tokens without a gap between them, so it is
// not made like other productions.
func (s *sentences) enumValue() ([]string, bool) {
	s.rules["EnumValue"].each(func(e *expr) { e.made = true })
	v := []string{"good", "so-so", "3-a", "Big", "x1-Y"}
	return []string{v[s.rand.IntN(len(v))]}, true
}

// begins returns the number of words at the start of a sentence that match an expression without
// productions, or -1 if they do not match.
func begins(e *expr, sentence []string) int {
	switch e.kind {
	case choice:
		for _, p := range e.parts {
			if n := begins(p, sentence); n >= 0 {
				return n
			}
		}
		return -1
	case sequence:
		n := 0
		for _, p := range e.parts {
			m := begins(p, sentence[n:])
			if m < 0 {
				return -1
			}
			n += m
		}
		return n
	case token:
		if len(sentence) > 0 && kindOf(sentence[0]) == e.text {
			return 1
		}
	case literal:
		if len(sentence) > 0 && sentence[0] == e.text {
			return 1
		}
	default:
		panic(fmt.Sprintf("a lookahead of kind %d", e.kind))
	}
	return -1
}

func kindOf(word string) string {
	if toks := scan(nil, "x", word).tokens; len(toks) == 1 {
		for name, typ := range symbols {
			if typ == toks[0].Type {
				return strings.ToLower(name)
			}
		}
	}
	return ""
}

// reader parses EBNF in participle's notation.
type reader struct {
	text string
	off  int
}

func (r *reader) rest() string { return strings.TrimLeft(r.text[r.off:], " ") }

func (r *reader) alternatives() *expr {
	e := &expr{kind: choice, parts: []*expr{r.sequence()}}
	for strings.HasPrefix(r.rest(), "|") {
		r.take(1)
		e.parts = append(e.parts, r.sequence())
	}
	if len(e.parts) == 1 {
		return e.parts[0]
	}
	return e
}

func (r *reader) sequence() *expr {
	e := &expr{kind: sequence}
	for rest := r.rest(); rest != "" && rest[0] != ')' && rest[0] != '|'; rest = r.rest() {
		e.parts = append(e.parts, r.term(rest))
	}
	return e
}

// take advances past the blanks and then past n bytes.
func (r *reader) take(n int) { r.off = len(r.text) - len(r.rest()) + n }

func (r *reader) term(rest string) *expr {
	var e *expr
	switch {
	case rest[0] == '"':
		end := strings.IndexByte(rest[1:], '"') + 1
		e = &expr{kind: literal, text: rest[1:end]}
		r.take(end + 1)
	case rest[0] == '<':
		end := strings.IndexByte(rest, '>')
		e = &expr{kind: token, text: rest[1:end]}
		r.take(end + 1)
	case rest[0] == '(':
		kind, open := sequence, 1
		if strings.HasPrefix(rest, "(?=") {
			kind, open = ahead, 3
		} else if strings.HasPrefix(rest, "(?!") {
			kind, open = notAhead, 3
		}
		r.take(open)
		e = &expr{kind: kind, parts: []*expr{r.alternatives()}}
		r.take(1)
	default:
		end := strings.IndexAny(rest+" ", " ?*+|)")
		e = &expr{kind: ref, text: rest[:end]}
		r.take(end)
	}
	// The mark follows its term without a blank.
	if r.off < len(r.text) {
		if kind, ok := map[byte]int{'?': optional, '*': star, '+': plus}[r.text[r.off]]; ok {
			r.off++
			e = &expr{kind: kind, parts: []*expr{e}}
		}
	}
	return e
}
