package golang

import (
	"bytes"
	"go/format"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// The functions here build what jennifer has too, in the layout of gofmt. What several
// statements share is a jen.Code and not a *jen.Statement, to which anyone could append.

// blank is the empty line before a declaration, and the end of the last line.
var blank = only(jen.Empty())

// laidOut takes a file that jennifer does not format, which it writes at once.
type laidOut struct{ text []byte }

// Write keeps a file, in the form of gofmt from its first line to its imports too.
func (w *laidOut) Write(file []byte) (int, error) {
	head, body, _ := bytes.Cut(file, []byte("\n\n\n")) // before the blank of the first declaration
	head, err := format.Source(file[:len(head)+1])
	if err != nil {
		return 0, err
	}
	w.text = slices.Concat(w.text, head, body)
	return len(file), nil
}

// only returns the one part of a statement: a tree takes less time and memory without
// statements of one part.
func only(s *jen.Statement) jen.Code { return (*s)[0] }

func id(name string) jen.Code { return only(jen.Id(name)) }

func qual(path, name string) jen.Code { return only(jen.Qual(path, name)) }

// fixed returns code that all queries share as the text that jennifer renders it to, once.
// It brings no imports: its packages are those that other code of every query names.
func fixed(c jen.Code) jen.Code {
	f := jen.NewFile("fixed")
	f.NoFormat = true
	f.ImportNames(packageNames)
	f.Add(c)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		panic("codegen: render a part: " + err.Error())
	}
	_, body, _ := strings.Cut(b.String(), "\n\n\n") // the code alone follows the imports
	return id(body)
}

// words puts a space between the parts.
func words(parts ...jen.Code) jen.Code { return (*jen.Statement)(&parts) }

// tight puts nothing between the parts.
func tight(parts ...jen.Code) jen.Code { return only(jen.Custom(jen.Options{}, parts...)) }

func commas(items ...jen.Code) jen.Code {
	return only(jen.Custom(jen.Options{Separator: ", "}, items...))
}

func params(items ...jen.Code) jen.Code {
	return only(jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ", "}, items...))
}

func call(f jen.Code, args ...jen.Code) jen.Code { return tight(f, params(args...)) }

// values are the elements of a literal on one line.
func values(items ...jen.Code) jen.Code {
	return only(jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ", "}, items...))
}

func dot(x jen.Code, name string) jen.Code { return tight(x, dotToken, id(name)) }

func subscript(i jen.Code) jen.Code { return only(jen.Index(i)) }

func index(x, i jen.Code) jen.Code { return tight(x, subscript(i)) }

func parens(x jen.Code) jen.Code { return only(jen.Parens(x)) }

func pointer(x jen.Code) jen.Code { return tight(star, x) }

func address(x jen.Code) jen.Code { return tight(ampersand, x) }

func slice(elem jen.Code) jen.Code { return tight(brackets, elem) }

func assign(to, x jen.Code) jen.Code { return words(to, equals, x) }

func define(to, x jen.Code) jen.Code { return words(to, colonEquals, x) }

func returns(x jen.Code) jen.Code { return only(jen.Return(x)) }

var (
	dotToken    = only(jen.Op("."))
	star        = only(jen.Op("*"))
	ampersand   = only(jen.Op("&"))
	equals      = only(jen.Op("="))
	colonEquals = only(jen.Op(":="))
	colon       = only(jen.Op(":"))
	brackets    = only(jen.Index())
	structName  = id("struct")
	stringName  = id("string")
	errorName   = id("error")
)

const tabs = "\n\t\t\t\t"

// block holds statements in braces, which are opened on a line that is indented by depth
// tabs.
func block(depth int, statements ...jen.Code) jen.Code {
	if len(statements) == 0 {
		return only(jen.Op("{" + tabs[:1+depth] + "}"))
	}
	return only(jen.Custom(jen.Options{Open: "{" + tabs[:2+depth], Close: tabs[:1+depth] + "}", Separator: tabs[:2+depth]}, statements...))
}

// when runs statements under a condition.
func when(depth int, condition []jen.Code, statements ...jen.Code) jen.Code {
	return words(only(jen.Custom(jen.Options{Open: "if ", Separator: "; "}, condition...)), block(depth, statements...))
}

// member is a field of a struct.
type member struct {
	doc, name string
	typ       typeExpr
	tag       map[string]string
}

// structType declares a struct. Names, types and tags stand in columns between the
// comments.
func structType(f *jen.File, name string, members []member) {
	if len(members) == 0 {
		f.Type().Id(name).Struct()
		return
	}
	lines := make([]jen.Code, 0, 2*len(members))
	for i := 0; i < len(members); {
		for line := range commentLines(members[i].doc) {
			lines = append(lines, only(jen.Comment(line)))
		}
		end := i + 1
		for end < len(members) && strings.TrimSpace(members[end].doc) == "" {
			end++
		}
		names, types := 0, 0
		for _, m := range members[i:end] {
			names, types = max(names, width(m.name)), max(types, m.typ.width)
		}
		for _, m := range members[i:end] {
			lines = append(lines, tight(id(m.name), pad(width(m.name), names), m.typ.code, pad(m.typ.width, types), only(jen.Tag(m.tag))))
		}
		i = end
	}
	f.Type().Id(name).Add(structName, block(0, lines...))
}

// pair is a member of a composite literal that takes one line.
type pair struct {
	key   string
	value jen.Code
}

// literalVar declares a variable that points to a composite literal.
func literalVar(f *jen.File, name string, typ jen.Code, pairs []pair) {
	keys := 0
	for _, p := range pairs {
		keys = max(keys, width(p.key))
	}
	lines := make([]jen.Code, len(pairs))
	for i, p := range pairs {
		lines[i] = tight(id(p.key), colon, pad(width(p.key), keys), p.value)
	}
	f.Add(blank)
	f.Var().Id(name).Add(equals, tight(ampersand, typ, only(jen.Custom(jen.Options{Open: "{\n\t", Close: ",\n}", Separator: ",\n\t"}, lines...))))
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad is the space between what is so wide and what follows it in a column.
func pad(wide, column int) jen.Code {
	if n := column - wide; n < len(pads) {
		return pads[n]
	}
	return only(jen.Op(strings.Repeat(" ", column-wide+1)))
}

var pads = func() (pads [32]jen.Code) {
	for i := range pads {
		pads[i] = only(jen.Op(strings.Repeat(" ", i+1)))
	}
	return pads
}()

func number(i int) jen.Code { return id(strconv.Itoa(i)) }

func text(s string) jen.Code { return only(jen.Lit(s)) }

// rawString is a string literal, raw where Go can say it so.
func rawString(s string) jen.Code {
	if strconv.CanBackquote(s) {
		return id("`" + s + "`")
	}
	return text(s)
}

// list is a literal of a []string.
func list(elems []string) jen.Code {
	items := make([]jen.Code, len(elems))
	for i, e := range elems {
		items[i] = text(e)
	}
	return tight(brackets, stringName, values(items...))
}
