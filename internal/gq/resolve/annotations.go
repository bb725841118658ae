package resolve

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The annotations that are allowed on types, on properties, and elsewhere.
var (
	onTypes      = []string{"@description", "@instruction", "@rename_from", "@valid"}
	onProperties = []string{"@description", "@rename_from", "@default", "@backfill", "@embed", "@ann", "@key", "@unique", "@index"}
	onOthers     = []string{"@card", "@range", "@check"}
)

// TypeAnnotations returns the annotations that a type can have, with @.
func TypeAnnotations() []string { return slices.Clone(onTypes) }

// PropertyAnnotations returns the annotations that a property can have, with @.
func PropertyAnnotations() []string { return slices.Clone(onProperties) }

// customPrefix starts the names of annotations that users define. The language does not interpret
// them.
const customPrefix = "x_"

// checkAnnotation reports an annotation that the language does not have, that is not allowed in
// this place, or that occurs a second time. `here` lists the annotations that are allowed in this
// place. The map `seen` contains the positions of the earlier annotations by name; checkAnnotation
// adds this annotation to it.
func (b *builder) checkAnnotation(a *syntax.Annotation, here []string, seen map[string]diag.Span) {
	name, at := a.Name.Value, syntax.SpanOf(a.Name)
	if strings.HasPrefix(name, customPrefix) {
		return
	}
	first, again := seen[name]
	seen[name] = at
	switch all := slices.Concat(here, onTypes, onProperties, onOthers); {
	case !slices.Contains(all, "@"+name):
		help := b.suggest("@"+name, func() []string { return all })
		if help == "" {
			help = customHelp + name + " if it is an annotation of your team"
		}
		b.fault(UnknownAnnotation, at, help, "unknown annotation @%s", name)
	case !slices.Contains(here, "@"+name):
		b.fault(MisplacedAnnotation, at, "allowed here: "+strings.Join(here, ", "), "@%s is not allowed here", name)
	case again:
		b.fault(RepeatedAnnotation, at, "remove one of them", "@%s occurs twice here, first at %s", name, first)
	}
}

// customHelp starts the help for a name that resembles no annotation of the language.
const customHelp = "call it @" + customPrefix

// OwnName returns the edit that turns an unknown annotation into one of the user's own, and reports
// whether there is such an edit. A name that resembles an annotation of the language gets no edit,
// because it is more likely misspelt.
func OwnName(d diag.Diagnostic) (diag.Edit, bool) {
	if d.Code != UnknownAnnotation || !strings.HasPrefix(d.Help, customHelp) {
		return diag.Edit{}, false
	}
	at := d.Span
	at.End = at.Start
	return diag.Edit{Span: at, Text: customPrefix}, true
}

// StoredAnnotations lists the codes of faults in annotations that earlier versions of the language
// accepted without a check. The stored schema of a graph may have such annotations.
var StoredAnnotations = []diag.Code{UnknownAnnotation, MisplacedAnnotation, RepeatedAnnotation}

// typeAnnotations returns the values of the annotations that the language interprets, and the
// other annotations unchanged.
func (b *builder) typeAnnotations(as []*syntax.Annotation) (desc, renamed string, rest []catalog.Annotation) {
	seen := map[string]diag.Span{}
	for _, a := range as {
		b.checkAnnotation(a, onTypes, seen)
		switch a.Name.Value {
		case "description":
			desc = b.oneString(a)
		case "rename_from":
			renamed = b.oneString(a)
		case "valid": // see validity
		default:
			rest = append(rest, customAnnotation(a))
		}
	}
	return desc, renamed, rest
}

// propertyAnnotations checks the annotations of a property, and adds them to the catalog.
func (b *builder) propertyAnnotations(prop *catalog.Property, p *syntax.Property) {
	var tr traits
	seen := make(map[string]diag.Span, len(p.Annotations))
	for _, a := range p.Annotations {
		b.checkAnnotation(a, onProperties, seen)
		switch a.Name.Value {
		case "description":
			prop.Description = b.oneString(a)
		case "rename_from":
			prop.RenameFrom = b.oneString(a)
		case "embed":
			b.embed(prop, a)
		case "ann":
			b.approximate(prop, a)
		case "default":
			b.defaultValue(prop, a)
		case "backfill":
			if text := b.oneString(a); text != "" {
				prop.Backfill = &catalog.Backfill{Text: text}
			}
		case "key", "unique", "index":
			tr.key = tr.key || a.Name.Value == "key"
			tr.unique = tr.unique || a.Name.Value == "unique"
			tr.index = tr.index || a.Name.Value == "index"
			tr.span = a.Span()
		default:
			prop.Annotations = append(prop.Annotations, customAnnotation(a))
		}
	}
	b.traits[prop] = tr
}

// oneString returns the only argument of an annotation, which must be a string.
func (b *builder) oneString(a *syntax.Annotation) string {
	if len(a.Args) == 1 && a.Args[0].Key == nil {
		if s, ok := stringArg(a.Args[0]); ok {
			return s
		}
	}
	b.fault(BadAnnotation, a.Span(), `write @`+a.Name.Value+`("…")`, "the argument of @%s must be one string", a.Name.Value)
	return ""
}

// embed checks @embed, and adds it to the property.
func (b *builder) embed(prop *catalog.Property, a *syntax.Annotation) {
	e := &catalog.Embed{}
	ok := len(a.Args) > 0
	for i, arg := range a.Args {
		s, isString := stringArg(arg)
		switch {
		case i == 0 && arg.Key == nil && isString:
			e.Source = s
		case i == 0 && arg.Key == nil && arg.Name != nil:
			e.Source = arg.Name.Value
		case arg.Key != nil && arg.Key.Value == "model" && isString:
			e.Model = s
		default:
			ok = false
		}
	}
	switch {
	case !ok || e.Source == "":
		b.fault(BadEmbed, a.Span(), `write @embed("source", model="…")`, "the arguments of @embed must be a property name and optionally a model")
	case prop.Type.Kind != value.Vector:
		b.fault(BadEmbed, a.Span(), "make the property a Vector", "@embed needs a Vector property, but %s is %s", prop.Name, prop.Type)
	default:
		prop.Embed = e
	}
}

// approximate resolves @ann. This annotation requests an approximate index for a Vector property.
func (b *builder) approximate(prop *catalog.Property, a *syntax.Annotation) {
	switch {
	case len(a.Args) > 0:
		b.fault(BadApproximate, a.Span(), "write @ann", "@ann has no arguments")
	case prop.Type.Kind != value.Vector:
		b.fault(BadApproximate, a.Span(), "remove @ann, or make the property a Vector", "@ann needs a Vector property, but %s is %s", prop.Name, prop.Type)
	default:
		prop.Approximate = true
	}
}

// refuseApproximate reports @ann on a property of an edge. No read could use the index: a read that
// binds an edge also binds its nodes.
func (b *builder) refuseApproximate(prop *catalog.Property, p *syntax.Property) {
	if !prop.Approximate {
		return
	}
	prop.Approximate = false
	for _, a := range p.Annotations {
		if a.Name.Value == "ann" {
			b.fault(BadApproximate, a.Span(), "remove @ann, or put the Vector on a node", "@ann needs a property of a node, but %s belongs to an edge", prop.Name)
		}
	}
}

// embeds checks that the source of each embedding is a String property of the type. `typ` is the
// span of the type's name; embeds reports errors in inherited properties at this span.
func (b *builder) embeds(props []*catalog.Property, lookup func(string) *catalog.Property, members []syntax.Member, typ diag.Span) {
	var spans map[string]diag.Span
	for _, p := range props {
		if p.Embed == nil {
			continue
		}
		b.step(1)
		src := lookup(p.Embed.Source)
		if src != nil && src.Type.Kind == value.String && !src.Type.List && src.Default == nil {
			continue
		}
		if spans == nil {
			spans = embedSpans(members)
		}
		at, ok := spans[p.Name]
		if !ok {
			at = typ
		}
		if src == nil {
			help := b.suggest(p.Embed.Source, func() []string { return propertyNames(props) })
			b.fault(BadEmbed, at, help, "the type has no property %s to embed", p.Embed.Source)
			continue
		}
		if src.Default != nil {
			b.fault(BadEmbed, at, "remove the @default", "property %s has a default, which is not embedded", src.Name)
			continue
		}
		b.fault(BadEmbed, at, "", "property %s is %s, and only a String can be embedded", src.Name, src.Type)
	}
}

// embedSpans returns the spans of the @embed annotations by the names of their properties.
func embedSpans(members []syntax.Member) map[string]diag.Span {
	spans := map[string]diag.Span{}
	for _, m := range members {
		p, ok := m.(*syntax.Property)
		if !ok {
			continue
		}
		for _, a := range p.Annotations {
			if a.Name.Value == "embed" {
				spans[p.Name.Value] = a.Span()
			}
		}
	}
	return spans
}

// stringArg returns the text of an argument, and whether the argument is a string.
func stringArg(arg *syntax.AnnotationArg) (string, bool) {
	l, ok := arg.Literal.(*syntax.Literal)
	if !ok || l.Kind != syntax.StringLiteral {
		return "", false
	}
	return l.Text, true
}

// customAnnotation converts an annotation that the language does not interpret.
func customAnnotation(a *syntax.Annotation) catalog.Annotation {
	k := catalog.Annotation{Name: a.Name.Value}
	for _, arg := range a.Args {
		var text strings.Builder
		for _, t := range arg.Tokens {
			text.WriteString(t.Value)
		}
		k.Args = append(k.Args, text.String())
	}
	return k
}

// propertyNames returns the names of properties.
func propertyNames(props []*catalog.Property) []string {
	names := make([]string, len(props))
	for i, p := range props {
		names[i] = p.Name
	}
	return names
}
