package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cobraQuestions are questions about github.com/spf13/cobra as a developer of it would ask them. The right answers were decided by
// reading its source, before any tool had read it. When they were first asked, 18 answers were right at once, and two wrong in silence.
var cobraQuestions = []question{
	// Who calls.
	{"Who calls `stripFlags`?", "Command.Find; TestStripFlags", "Command.Traverse"},
	{"everything that reads the environment, that is calls `os.Getenv`", "GetActiveHelpConfig; getEnvConfig; CompDebug; fillHeader", "Command.Name"},
	{"where is `Command.InitDefaultHelpCmd` invoked from?", "Command.ExecuteC; genMan; GenMarkdownCustom; GenReSTCustom; GenYamlCustom", "Command.Find"},
	{"show me the call sites of `ld`", "Command.SuggestionsFor; TestLevenshteinDistance", "Command.Find"},
	{"what functions does `Command.ValidateFlagGroups` use?", "processFlagForGroupAnnotation; validateOneRequiredFlagGroups; validateExclusiveFlagGroups", "sortedKeys"},
	{"usages of the type `FParseErrWhitelist`", "cobra.Command; TestFParseErrWhitelistSameCommand", "Command.Find"},
	{"who reads the variable `EnablePrefixMatching`?", "Command.findNext; TestAliasPrefixMatching", "commandNameMatches"},
	// What breaks.
	{"if I rewrite `Command.argsMinusFirstX`, what could stop working?", "Command.Find; Command.ExecuteC; Command.Execute", "GenManTree"},
	{"impact of changing `configEnvVar`", "activeHelpEnvVar; getEnvConfig; GetActiveHelpConfig; genFishComp; writePreamble", "ExactArgs"},
	{"I want to change `processFlagForGroupAnnotation`; what upstream of it might break?", "Command.ValidateFlagGroups; Command.enforceFlagGroupsForCompletion; Command.execute; Command.getCompletions", "GenYaml"},
	{"which types implement `SliceValue`?", "customMultiString", "flagCompError"},
	{"what else gets executed when `Command.GenZshCompletion` runs?", "Command.genZshCompletion; genZshComp", "genFishComp"},
	// Which tests.
	{"which tests should I rerun after touching `validateOneRequiredFlagGroups`?", "TestValidateFlagGroups", "TestLevenshteinDistance"},
	{"is `indentString` covered by any test?", "TestGenRSTDoc", "TestGenMdDoc"},
	{"what tests are there for `Command.GenPowerShellCompletion`?", "TestPwshCompletionNoActiveHelp", "TestStripFlags"},
	// Where is the text.
	{"Where is `CompletionOptions` declared?", "completions.go", "command.go"},
	{"what parameters does `GenReSTTreeCustom` take?", "linkHandler func(string, string) string", ""},
	{"what does the documentation of `OnFinalize` say?", "is terminated", ""},
	{"give me an outline of the file `flag_groups.go`", "Command.MarkFlagsRequiredTogether; Command.ValidateFlagGroups; sortedKeys", "stripFlags"},
	{"what can other people call in the package `doc`: its exported functions", "GenManTree; GenYaml; GenMarkdownTree", "hasSeeAlso"},
	// Dead code.
	{"are there exported functions that nothing uses?", "ExactValidArgs; CompDebugln; FixedCompletions; AddTemplateFunc", "NoArgs; CheckErr"},
	{"is `Command.DebugFlags` dead code, or does anybody call it?", nothing, ""},
	// Layering.
	{"which package imports `github.com/cpuguy83/go-md2man/v2/md2man`?", "cobra/doc", ""},
	{"what does the package `cobra/doc` depend on?", "spf13/cobra; spf13/pflag; go.yaml.in/yaml/v3", "doc.test"},
	{"is `os/exec` imported by anything but tests?", "cobra.test", "cobra/doc"},
	// Hot spots.
	{"top functions by the number of places that call them", "executeCommand", ""},
	{"how many lines of code has the package `cobra/doc`?", "doc", ""},
	// By meaning.
	{"which code suggests a similar command after a typo?", "Command.SuggestionsFor", ""},
	{"where are mutually exclusive flags validated?", "validateExclusiveFlagGroups", ""},
	{"Which function generates man pages?", "GenMan", ""},
}

// heldQuestions are further questions about cobra, written after the search and the descriptions had been mended for the others. When they
// were first asked, six answers were right at once, and one was wrong in silence; two words joined the thesaurus since.
var heldQuestions = []question{
	{"find every place that invokes `WriteStringAndCheck`", "writePreamble; writeFlag; genZshComp", "Command.Find"},
	{"callers of `hasSeeAlso` please", "genMan; GenReSTCustom; GenMarkdownCustom", "GenYamlTree"},
	{"I'd like to remove `Command.findNext`. Who would notice?", "Command.Find; Command.Traverse", "GenYaml"},
	{"how far does a change of `validateRequiredFlagGroups` ripple", "Command.ValidateFlagGroups; Command.execute", "GenYaml"},
	{"tests that go through `Command.SuggestionsFor`", "TestSuggestions", "TestLevenshteinDistance"},
	{"signature and file of `MatchAll`", "args.go", ""},
	{"what lives in `active_help.go`?", "AppendActiveHelp; GetActiveHelpConfig", "NoArgs"},
	{"what does `legacyArgs` rely on", "Command.HasSubCommands; Command.findSuggestions", "stripFlags"},
	{"does cobra pull in `text/template`, and from which package?", "spf13/cobra", "cobra/doc"},
	{"code for computing the edit distance between two words", "ld", ""},
	{"who implements `PositionalArgs`?", nothing, ""},
	{"where do we turn a flag into a completion?", "getFlagNameCompletions", ""},
}

// cobraFolder copies cobra from the module cache to a folder of a module whose requirements the cache has too.
func cobraFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cobra")
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/spf13/cobra").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, goFiles{os.DirFS(strings.TrimSpace(string(out)))}); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cobra/go.mod": `module github.com/spf13/cobra

go 1.24

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.6
	github.com/inconshreveable/mousetrap v1.1.0
	github.com/spf13/pflag v1.0.10
	go.yaml.in/yaml/v3 v3.0.5
)

replace github.com/cpuguy83/go-md2man/v2 => ../md2man
`,
		"cobra/go.sum":            string(sums),
		"md2man/go.mod":           "module github.com/cpuguy83/go-md2man/v2\n\ngo 1.24\n",
		"md2man/md2man/md2man.go": "package md2man\n\n// Render stands for that of the module, which this repository does not require.\nfunc Render(doc []byte) []byte { return doc }\n",
	} {
		path := filepath.Join(filepath.Dir(dir), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goFiles are the Go files of a tree.
type goFiles struct{ fs.FS }

// ReadDir implements [fs.ReadDirFS].
func (g goFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(g.FS, name)
	var kept []fs.DirEntry
	for _, e := range all {
		if name == "." && e.Name() == "doc" || strings.HasSuffix(e.Name(), ".go") {
			kept = append(kept, e)
		}
	}
	return kept, err
}
