package diag

import (
	"fmt"
	"io"
	"strings"
)

// The escapes for the characters that GitHub Actions would take for the end of a message, or of
// one of its properties.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// githubCommand maps severities to workflow commands.
var githubCommand = [...]string{Error: "error", Warning: "warning", Note: "notice"}

// RenderGitHub writes the list as workflow commands. GitHub Actions shows them at the changed
// lines. The file names must be relative to the repository.
func RenderGitHub(w io.Writer, list List) error {
	for _, d := range list {
		text := string(d.Code) + ": " + d.Message
		if d.Help != "" {
			text += "\nhelp: " + d.Help
		}
		end := ""
		if d.Span.End.Line == d.Span.Start.Line {
			end = fmt.Sprintf(",endColumn=%d", d.Span.End.Column)
		}
		_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,endLine=%d,col=%d%s,title=%s::%s\n", githubCommand[d.Severity],
			githubProperty.Replace(d.Span.File), d.Span.Start.Line, d.Span.End.Line, d.Span.Start.Column, end,
			githubProperty.Replace(string(d.Code)), githubMessage.Replace(text))
		if err != nil {
			return err
		}
	}
	return nil
}
