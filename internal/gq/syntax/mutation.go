package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The productions of the rules in this file; see rules.go.
const (
	bodyGrammar      = `Body = Read | Mutation .`
	statementGrammar = `Statement = Insert | Update | Delete | MatchBlock | ListBlock .`
	writtenGrammar   = `Written = NodeKey | Operand .`
	nodeKeyGrammar   = `NodeKey = <typename> "(" Operand ("," Operand)* ")" .`
)

// Mutation is a list of statements.
type Mutation struct {
	Range
	Statements []Statement   `parser:"@@+"`
	Returns    []*Projection `parser:"( 'return' '{' ( @@ ','? )+ '}' )?"` // the columns, or nil
}

// Statement is one of *Insert, *Update, *Delete, *MatchBlock and *ListBlock.
type Statement interface{ statement() }

// Insert adds a node or an edge. An upsert changes it instead if it exists, and an insert new fails.
type Insert struct {
	Range
	Name *Token    `parser:"( @Var '=' )?"`           // the variable that names the entity, or nil
	Verb Token     `parser:"( @'upsert' | @'insert'"` // insert or upsert
	New  bool      `parser:"@'new'? )"`               // insert new: refuse an entity that exists
	Type Token     `parser:"@TypeName"`               // name of the node or edge type
	Set  []*Assign `parser:"'{' @@* '}'"`             // the assignments
}

// Upsert reports whether the statement is an upsert.
func (i *Insert) Upsert() bool { return i.Verb.Value == "upsert" }

// Update changes the nodes or edges for which all predicates hold.
type Update struct {
	Range
	Type  Token     `parser:"'update' @TypeName"`       // name of the type
	Set   []*Assign `parser:"'set' '{' @@* '}'"`        // the assignments
	Where []*Pred   `parser:"'where' @@ ( 'and' @@ )*"` // the predicates
}

// Delete removes the nodes or edges for which all predicates hold.
type Delete struct {
	Range
	Type  Token   `parser:"'delete' @TypeName"`       // name of the node or edge type
	Where []*Pred `parser:"'where' @@ ( 'and' @@ )*"` // the predicates
}

// MatchBlock runs its statements for each match of a pattern.
type MatchBlock struct {
	Range
	Match      []Clause    `parser:"'match' '{' @@+ '}'"`                 // the clauses in the braces
	Order      []*Ordering `parser:"( 'order' '{' @@ ( ',' @@ )* '}' )?"` // the sort keys in order
	Limit      *Token      `parser:"( 'limit' @(Int | Var) )?"`           // nil for no limit
	Statements []Statement `parser:"'{' @@+ '}'"`
}

// ListBlock runs its statements for each element of a list.
type ListBlock struct {
	Range
	Var        Token       `parser:"'for' @Var 'in'"` // the variable for the element
	List       Operand     `parser:"@@"`
	Statements []Statement `parser:"'{' @@+ '}'"`
}

// statement marks the types that are a [Statement].
func (*Insert) statement()     {}
func (*Update) statement()     {}
func (*Delete) statement()     {}
func (*MatchBlock) statement() {}
func (*ListBlock) statement()  {}

// Assign assigns a value to a property.
type Assign struct {
	Range
	Name  Token   `parser:"@Name ':'"` // of the property
	Value Written `parser:"@@ ','?"`
}

// Pred compares a property with a value.
type Pred struct {
	Range
	Name  Token   `parser:"@Name"` // of the property
	Op    Token   `parser:"@(Relation | 'in')"`
	Value Written `parser:"@@"`
}

// Written is an operand of an assignment or a predicate. In addition to the other operands it may be a *NodeKey.
type Written Operand

// NodeKey is a node, given by the members of its key: Person("ada").
type NodeKey struct {
	Range
	Type Token     // name of the node type
	Key  []Operand // the members, in the order of @key
}

// operand marks NodeKey as an [Operand].
func (*NodeKey) operand() {}

// parseBody decides whether a read or a mutation follows, and parses it. Both may start with `match`:
// the match of a mutation is followed by statements in braces.
func (g *grammar) parseBody(lex *lexer.PeekingLexer) (Body, error) {
	switch t := lex.Peek(); {
	case t.Value == "match" && t.Type == Name && !startsMatchBlock(lex):
		return parsePart[Body](g.read, lex)
	case startsStatement(nextTokens(lex)):
		return parsePart[Body](g.mutation, lex)
	}
	return nil, participle.NextMatch
}

// startsStatement reports whether a statement starts with the next tokens.
func startsStatement(next [4]Token) bool {
	switch next[0].Type {
	case Var:
		return next[1].Value == "=" && (next[2].Value == "insert" || next[2].Value == "upsert")
	case Name:
		switch next[0].Value {
		case "insert", "upsert", "update", "delete", "match", "for":
			return true
		}
	}
	return false
}

// startsMatchBlock reports whether the braces of the next match are followed by the statements of a
// mutation, perhaps after `order` and `limit`.
func startsMatchBlock(lex *lexer.PeekingLexer) bool {
	start := lex.MakeCheckpoint()
	defer lex.LoadCheckpoint(start)
	lex.Next()
	if !skipBraces(lex) {
		return false
	}
	if lex.Peek().Value == "order" {
		lex.Next()
		if !skipBraces(lex) {
			return false
		}
	}
	if lex.Peek().Value == "limit" {
		lex.Next()
		lex.Next()
	}
	return lex.Peek().Value == "{"
}

// skipBraces skips a pair of braces and the tokens within. It returns false if no brace is next or its
// counterpart is missing.
func skipBraces(lex *lexer.PeekingLexer) bool {
	if lex.Peek().Value != "{" {
		return false
	}
	for depth := 0; ; {
		t := lex.Next()
		switch {
		case t.EOF():
			return false
		case t.Type != Punct:
		case t.Value == "{":
			depth++
		case t.Value == "}":
			if depth--; depth == 0 {
				return true
			}
		}
	}
}

// parseStatement parses a statement. If none starts at the next token, it returns
// participle.NextMatch.
func (g *grammar) parseStatement(lex *lexer.PeekingLexer) (Statement, error) {
	g.meter.Step(1)
	next := nextTokens(lex)
	if !startsStatement(next) {
		return nil, participle.NextMatch
	}
	switch next[0].Value {
	case "update":
		return parsePart[Statement](g.update, lex)
	case "delete":
		return parsePart[Statement](g.delete, lex)
	case "match":
		return parsePart[Statement](g.matchBlock, lex)
	case "for":
		return parsePart[Statement](g.listBlock, lex)
	}
	return parsePart[Statement](g.insert, lex)
}

// parseWritten parses an operand of an assignment or a predicate.
func (g *grammar) parseWritten(lex *lexer.PeekingLexer) (Written, error) {
	next := nextTokens(lex)
	if next[0].Type != TypeName || next[1].Value != "(" {
		return g.parseOperand(lex)
	}
	g.meter.Step(1)
	c := cursor{lex, lex.RawCursor()}
	key := &NodeKey{Type: *c.Next()}
	c.Next()
	for {
		at := *lex.Peek()
		member, err := required(g.parseOperand(lex))(at)
		if err != nil {
			return nil, err
		}
		key.Key = append(key.Key, member)
		if lex.Peek().Value != "," {
			break
		}
		c.Next()
	}
	if t := *lex.Peek(); t.Value != ")" {
		return nil, unexpected(t, "`,` or `)`")
	}
	c.Next()
	key.Range = c.consumed()
	return key, nil
}

// Walk calls visit for each statement, including those within blocks.
func (m *Mutation) Walk(visit func(Statement)) { walkStatements(m.Statements, visit) }

// walkStatements calls visit for each of the statements, including those within blocks.
func walkStatements(list []Statement, visit func(Statement)) {
	for _, st := range list {
		visit(st)
		walkStatements(Statements(st), visit)
	}
}

// Statements returns the statements in a block of a mutation, or nil for any other statement.
func Statements(st Statement) []Statement {
	switch st := st.(type) {
	case *MatchBlock:
		return st.Statements
	case *ListBlock:
		return st.Statements
	case *Insert, *Update, *Delete:
	}
	return nil
}
