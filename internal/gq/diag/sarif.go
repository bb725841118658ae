package diag

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
)

// The objects of SARIF 2.1.0 (OASIS, section 3) that a log of diagnostics needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"` // the unit of column numbers
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	// sarifDriver is the program that made the log.
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	// sarifRule documents a code.
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		FullDescription  sarifMessage `json:"fullDescription"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	// sarifResult is one diagnostic.
	sarifResult struct {
		RuleID    string          `json:"ruleId"`    // the code
		RuleIndex int             `json:"ruleIndex"` // -1 for a code without an entry
		Level     string          `json:"level"`     // error, warning or note
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	// sarifPhysical is a place in a file.
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	// sarifArtifact is a file.
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	// sarifRegion is a part of a file.
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	// sarifFix is a set of edits that fixes a diagnostic.
	sarifFix struct {
		Description sarifMessage  `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	// sarifChange holds the edits of one file.
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion  `json:"deletedRegion"`   // the text to remove
		Inserted sarifMessage `json:"insertedContent"` // the text to put in its place
	}
)

// sarifLevel maps severities to SARIF levels.
var sarifLevel = [...]string{Error: "error", Warning: "warning", Note: "note"}

// RenderSARIF writes the list as a SARIF 2.1.0 log of the named tool. The log documents the
// `entries` with codes that occur in the list. The parameter `edits` maps indexes in the list to
// fixes.
func RenderSARIF(w io.Writer, tool string, list List, entries []Entry, edits map[int][]Edit) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: tool, Rules: []sarifRule{}}
	index := map[Code]int{}
	for _, e := range entries {
		if slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Code == e.Code }) {
			index[e.Code] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(e.Code), sarifMessage{e.Title}, sarifMessage{e.Explanation}})
		}
	}
	for i, d := range list {
		rule, ok := index[d.Code]
		if !ok {
			rule = -1
		}
		text := d.Message
		if d.Help != "" {
			text += "\nhelp: " + d.Help
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: string(d.Code), RuleIndex: rule, Level: sarifLevel[d.Severity], Message: sarifMessage{text},
			Locations: []sarifLocation{{sarifPhysical{sarifArtifactOf(d.Span), sarifRegionOf(d.Span)}}},
			Fixes:     sarifFixes(d, edits[i]),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifFixes returns the fixes of d as one SARIF fix, or nil if there are none.
func sarifFixes(d Diagnostic, edits []Edit) []sarifFix {
	if len(edits) == 0 {
		return nil
	}
	fix := sarifFix{Description: sarifMessage{d.Help}}
	for _, e := range edits {
		fix.Changes = append(fix.Changes, sarifChange{sarifArtifactOf(e.Span), []sarifReplacement{{sarifRegionOf(e.Span), sarifMessage{e.Text}}}})
	}
	return []sarifFix{fix}
}

// sarifArtifactOf returns the file of a span.
func sarifArtifactOf(s Span) sarifArtifact {
	return sarifArtifact{(&url.URL{Path: s.File}).String()}
}

// sarifRegionOf returns the position of a span in its file.
func sarifRegionOf(s Span) sarifRegion {
	return sarifRegion{s.Start.Line, s.Start.Column, s.End.Line, s.End.Column}
}
