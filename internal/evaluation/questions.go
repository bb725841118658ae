package evaluation

import (
	_ "embed"
	"strings"
)

// questionsText has the questions of the built-in tools: a line with the name of a tool, and then its
// questions, each after a tab.
//
//go:embed questions.txt
var questionsText string

// Questions returns the questions of a built-in tool: what a person asks for in words that the tool
// need not have in its name.
func Questions(tool string) []string {
	var questions []string
	at := ""
	for line := range strings.Lines(questionsText) {
		line = strings.TrimRight(line, "\n")
		if q, ok := strings.CutPrefix(line, "\t"); !ok {
			at = line
		} else if at == tool {
			questions = append(questions, q)
		}
	}
	return questions
}
