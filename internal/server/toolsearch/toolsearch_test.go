package toolsearch

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// entries are in an order that no test expects as its result.
var entries = []Entry{
	{"recent_orders", "Lists the orders of a user.", []string{"user", "since"}},
	{"superuser_rights", "What the administrators may do.", nil},
	{"find_user", "Finds a person by name.", []string{"name"}},
	{"user_orders", "Lists what somebody has bought.", []string{"name", "limit"}},
	{"user", "One person.", []string{"id"}},
	{"close_account", "Ends a contract; theuserid stays.", []string{"id"}},
	{"prune", "Removes old entries.", []string{"userName"}},
	{"unusual_sellers", "Odd behaviour.", []string{"day"}},
	{"weather", "Tells how warm it is.", []string{"university_server"}},
	{"plain", "Nothing to see.", nil},
}

func TestOrder(t *testing.T) {
	tests := []struct{ text, want string }{
		// First matches of the name: exact, prefix, start of a word, substring. Then the same for
		// the description and for the parameters. Then subsequences.
		{"user", "user user_orders find_user superuser_rights recent_orders close_account prune unusual_sellers weather"},
		{"USER", "user user_orders find_user superuser_rights recent_orders close_account prune unusual_sellers weather"},
		{"user-orders", "user_orders recent_orders"},
		{"orders user", "user_orders recent_orders"},
		{"user name", "find_user user_orders prune"},
		{"userName", "find_user user_orders prune"},
		{"administrators", "superuser_rights"},
		{"since", "recent_orders"},
		{"fdusr", "find_user"},
		{"orders zzz", ""},
		{"zzz", ""},
		{"", "recent_orders superuser_rights find_user user_orders user close_account prune unusual_sellers weather plain"},
		{" _-", "recent_orders superuser_rights find_user user_orders user close_account prune unusual_sellers weather plain"},
	}
	for _, tt := range tests {
		var got []string
		for _, i := range Order(tt.text, entries) {
			got = append(got, entries[i].Name)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"find_user": "find user", "findUser": "find user", "HTTPServer": "httpserver", "  a--b ": "a b", "Ärger_ÖL": "ärger öl", "v2Name": "v2 name", "": "",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func FuzzOrder(f *testing.F) {
	f.Add("find user", "find_user", "Finds a user.", "name")
	f.Fuzz(func(t *testing.T, text, name, description, param string) {
		got := Order(text, []Entry{{name, description, []string{param}}})
		if len(got) > 1 || text == "" && len(got) != 1 {
			t.Errorf("got %v", got)
		}
		if utf8.ValidString(name) && !slices.Equal(Order(name, []Entry{{Name: name}}), []int{0}) {
			t.Errorf("%q does not match itself", name)
		}
	})
}
