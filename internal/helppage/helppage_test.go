package helppage

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestFaultOf(t *testing.T) {
	good := func() *cobra.Command {
		cmd := &cobra.Command{Use: "go", Short: "Do it", Long: "Do it well.", Example: "  go --well 1\n  echo | go"}
		cmd.Flags().Int("well", 0, "how well")
		return cmd
	}
	for name, tt := range map[string]struct {
		change func(cmd *cobra.Command)
		want   string
	}{
		"good":            {func(*cobra.Command) {}, ""},
		"no short":        {func(c *cobra.Command) { c.Short = "" }, "upper-case"},
		"lower":           {func(c *cobra.Command) { c.Short = "do it" }, "upper-case"},
		"period":          {func(c *cobra.Command) { c.Short = "Do it." }, "period"},
		"long short":      {func(c *cobra.Command) { c.Short = strings.Repeat("Do ", 30) }, "too long"},
		"no sentence":     {func(c *cobra.Command) { c.Long = "Do it" }, "end with a period"},
		"lower long":      {func(c *cobra.Command) { c.Long = "do it." }, "upper-case"},
		"flag":            {func(c *cobra.Command) { c.Flags().Bool("x", false, "") }, "--x has no help"},
		"no example":      {func(c *cobra.Command) { c.Example = "" }, "no example"},
		"indent":          {func(c *cobra.Command) { c.Example = "go" }, "indented"},
		"another command": {func(c *cobra.Command) { c.Example = "  ls" }, "does not run"},
		"group":           {func(c *cobra.Command) { c.Example = ""; c.AddCommand(good()) }, ""},
	} {
		cmd := good()
		tt.change(cmd)
		if got := faultOf(cmd); tt.want == "" && got != "" || tt.want != "" && !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
