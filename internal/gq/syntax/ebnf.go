package syntax

import "strings"

// Production is a rule of a grammar in EBNF: "|" separates alternatives, "?" marks an optional
// term, "*" a term that occurs any number of times, and "+" a term that occurs at least once.
// (?= x) and (?! x) look ahead without consuming tokens. <name>, <typename>, <var>, <int>,
// <float>, <string> and <relation> are tokens.
type Production struct {
	Name string // the left side
	Rule string // the right side, without the name and the final point
}

// operandGrammars returns the productions of an operand. The argument `own` contains those of its
// operators and calls, which come first.
func operandGrammars(own ...string) []string {
	return append(own, propRefGrammar, varRefGrammar, aliasRefGrammar, nowGrammar, literalGrammar, listGrammar)
}

// SchemaGrammar returns the productions of .pg files. The first one is the production of a whole
// file.
func SchemaGrammar() []Production {
	g := plainGrammar
	return productions(append([]string{
		`Schema = (Interface | Node | Edge)* .`,
		g.traits().String(), g.nodeType().String(), g.edgeType().String(), enumValueGrammar,
	}, operandGrammars(valueGrammar, valueCallGrammar)...))
}

// QueryGrammar returns the productions of .gq files. The first one is the production of a whole
// file.
func QueryGrammar() []Production {
	g := plainGrammar
	return productions(append([]string{
		`File = Query* .`,
		g.query().String(), bodyGrammar, g.read().String(), g.mutation().String(), enumValueGrammar,
		statementGrammar, g.insert().String(), g.update().String(), g.delete().String(), g.matchBlock().String(), g.listBlock().String(), writtenGrammar, nodeKeyGrammar,
		clauseGrammar, g.binding().String(), g.not().String(), g.exists().String(), g.any().String(), g.all().String(), g.optional().String(), g.text().String(), g.traversal().String(), g.filter().String(), g.subquery().String(), fieldRefGrammar,
	}, operandGrammars(operandGrammar, termGrammar, factorGrammar, actorGrammar, originGrammar, callGrammar, conditionGrammar, comparisonGrammar)...))
}

// productions splits EBNF texts that have one production a line. It returns a production that
// occurs several times only once.
func productions(texts []string) []Production {
	var out []Production
	seen := map[string]bool{}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			name, rule, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), " ."), " = ")
			if ok && !seen[name] {
				seen[name] = true
				out = append(out, Production{name, rule})
			}
		}
	}
	return out
}

// TokenDoc describes a token of the grammars.
type TokenDoc struct{ Name, Purpose string }

// Tokens documents the tokens that the productions use.
var Tokens = []TokenDoc{
	{"name", "a lower-case ASCII letter or `_`, then letters, digits and `_`"},
	{"typename", "an upper-case ASCII letter, then letters, digits and `_`"},
	{"var", "`$` and a name; `$_` is a variable without a name"},
	{"int", "digits, with an optional leading `-`"},
	{"float", "digits, a point and digits, with an optional leading `-`; no exponent"},
	{"string", "text in double quotes, which may contain line breaks and the escapes `\\\"` `\\\\` `\\n` `\\r` `\\t`"},
	{"relation", "`=` `!=` `<` `<=` `>` `>=`"},
}
