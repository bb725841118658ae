package naive

import (
	"math"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// The parameters of BM25 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009, section 3.4).
const (
	k1 = 1.2
	b  = 0.75
)

// defaultK is the default constant of rank fusion (Cormack, Clarke and Büttcher, Reciprocal Rank
// Fusion, 2009).
const defaultK = 60

// scoreKey identifies the BM25 score of an entity's property for a query text.
type scoreKey struct {
	entity      *entity
	prop, query string // name of the property, and the query text
}

// fusion holds the scores that one rrf gives to the matches. The address of a match's first element
// identifies the match.
type fusion struct {
	expr   plan.RRF             // the call of rrf
	scores map[**entity]float64 // score by match
}

// bm25 returns the sum, over the distinct tokens of the query in ascending order, of
//
//	idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length))
//
// with idf = ln(1 + (N − n + ½) / (n + ½)). N, n and the average length are computed from the texts
// of the whole type, where nulls do not count as texts. The score is 0 if the texts have no token
// in common.
func (ev *evaluation) bm25(e plan.BM25) value.Value {
	query, document := ev.eval(e.Query), ev.eval(e.Prop)
	if query.IsNull() || document.IsNull() {
		return value.OfF64(0)
	}
	key := scoreKey{ev.env[e.Prop.Var], e.Prop.Name, query.Str()}
	score, known := ev.scores[key]
	if !known {
		score = ev.score(e.Prop, query.Str(), tokenizer.AppendTokens(nil, document.Str()))
		ev.scores[key] = score
	}
	return value.OfF64(score)
}

// score computes the BM25 score of a document, which is given as a list of tokens.
func (ev *evaluation) score(prop plan.Prop, query string, document []string) float64 {
	v := ev.query.Read.Vars[prop.Var]
	entities := ev.state.sorted(v.Entity, v.Type)
	if ev.g.fault == StatisticsFiltered && ev.found != nil {
		entities = slices.DeleteFunc(entities, func(e *entity) bool {
			return !slices.ContainsFunc(ev.found, func(m []*entity) bool { return m[prop.Var] == e })
		})
	}
	var texts [][]string
	total := 0
	for _, e := range entities {
		if t := e.props[prop.Name]; !t.IsNull() {
			texts = append(texts, tokenizer.AppendTokens(nil, t.Str()))
			total += len(texts[len(texts)-1])
		}
	}
	terms := tokenizer.AppendTokens(nil, query)
	slices.Sort(terms)
	if ev.g.fault != TokensRepeated {
		terms = slices.Compact(terms)
	}
	score := 0.0
	for _, term := range terms {
		tf := 0.0
		for _, w := range document {
			if w == term {
				tf++
			}
		}
		if tf == 0 {
			continue
		}
		n := 0.0
		for _, t := range texts {
			if slices.Contains(t, term) {
				n++
			}
		}
		count := float64(len(texts))
		idf := math.Log(1 + (count-n+0.5)/(n+0.5))
		if ev.g.fault == InverseWrong {
			idf = math.Log(1 + count/n)
		}
		relative := float64(len(document)) / (float64(total) / count)
		if ev.g.fault == LengthIgnored {
			relative = 1
		}
		// The conversions prevent a compiler from fusing a multiplication with an addition.
		norm := float64(k1 * (1 - b + float64(b*relative)))
		score += float64(idf * float64(tf*(k1+1)) / (tf + norm))
	}
	return score
}

// nearest returns one minus the cosine of the angle between two vectors. It returns 1 if one of
// them is zero, and null if one of them is null.
func (ev *evaluation) nearest(e plan.Nearest) value.Value {
	x, y := ev.eval(e.Prop), ev.eval(e.Vector)
	if x.IsNull() || y.IsNull() {
		if ev.g.fault == NullVectorKept {
			return value.OfF64(1)
		}
		return value.Null
	}
	var dot, xx, yy float64
	for i, q := range y.Vector() {
		p := float64(x.Vector()[i])
		dot += float64(p * float64(q))
		xx += float64(p * p)
		yy += float64(float64(q) * float64(q))
	}
	lengths := math.Sqrt(xx) * math.Sqrt(yy)
	switch {
	case ev.g.fault == LengthsKept:
		return value.OfF64(-dot)
	case lengths == 0:
		return value.OfF64(1)
	}
	return value.OfF64(1 - dot/lengths)
}

// fused returns the score of an rrf for the current match, or null if the match is in neither
// ranking.
func (ev *evaluation) fused(e plan.RRF) value.Value {
	for _, f := range ev.fusions {
		if reflect.DeepEqual(f.expr, e) {
			if score, ok := f.scores[&ev.env[0]]; ok {
				return value.OfF64(score)
			}
		}
	}
	return value.Null
}

// rank computes the values that depend on all matches. It drops the matches that a sort key or a
// column excludes.
func (ev *evaluation) rank(matches [][]*entity) ([][]*entity, error) {
	ev.found = matches
	var dropped []func() bool
	look := func(e plan.Expr, ordering bool) error {
		agg, isAgg := e.(plan.Agg)
		if isAgg {
			e = agg.Arg
		}
		switch e := e.(type) {
		case plan.RRF:
			if err := ev.fuse(e, matches); err != nil {
				return err
			}
		case plan.Nearest:
		case plan.BM25:
			if !ordering || isAgg || ev.g.fault == UnmatchedKept {
				return nil
			}
		default:
			return nil
		}
		if !isAgg {
			dropped = append(dropped, func() bool { return absent(e, ev.eval(e)) })
		}
		return nil
	}
	for _, c := range ev.query.Read.Columns {
		if err := look(c.Expr, false); err != nil {
			return nil, err
		}
	}
	for _, o := range ev.query.Read.Order {
		if err := look(o.Expr, true); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(matches, func(m []*entity) bool {
		ev.env = m
		return slices.ContainsFunc(dropped, func(drop func() bool) bool { return drop() })
	}), nil
}

// absent reports whether a ranking leaves out a row because of the row's score.
func absent(e plan.Expr, score value.Value) bool {
	_, isText := e.(plan.BM25)
	return score.IsNull() || isText && score.Float() == 0
}

// fuse ranks the matches by each of two scores, with ties broken by ids. The fused score of a match
// is the sum of 1/(k + rank) over the rankings that have the match.
func (ev *evaluation) fuse(e plan.RRF, matches [][]*entity) error {
	k := int64(defaultK)
	if e.K != nil {
		if v := ev.eval(e.K); !v.IsNull() {
			if k = int64(v.Bits()); k < 1 {
				return &engine.BadArgument{Param: "k", Detail: "rrf takes a positive k"}
			}
		}
	}
	f := fusion{expr: e, scores: map[**entity]float64{}}
	for _, ranking := range []plan.Expr{e.First, e.Second} {
		_, distance := ranking.(plan.Nearest)
		type place struct {
			match []*entity
			row
		}
		var places []place
		for _, m := range matches {
			ev.env = m
			score := ev.eval(ranking)
			if absent(ranking, score) {
				continue
			}
			p := place{m, row{keys: []value.Value{score}}}
			for _, v := range ev.query.Read.Ties {
				p.ties = append(p.ties, ev.tie(v, m)...)
			}
			places = append(places, p)
		}
		slices.SortStableFunc(places, func(a, b place) int {
			c := order(a.keys[0], b.keys[0])
			if !distance {
				c = -c
			}
			if c != 0 {
				return c
			}
			return slices.CompareFunc(a.ties, b.ties, order)
		})
		for i, p := range places {
			rank := i + 1
			if ev.g.fault == RankFromZero {
				rank = i
			}
			f.scores[&p.match[0]] += 1 / (float64(k) + float64(rank))
		}
	}
	ev.fusions = append(ev.fusions, f)
	return nil
}
