cask "{{.Project}}" do
  arch arm: "arm64", intel: "amd64"
  os macos: "darwin", linux: "linux"

  version "{{.Number}}"
  sha256 {{range $i, $a := .Archives}}{{if $i}},
         {{end}}{{name "brew" $a.Platform}}: "{{$a.Sum}}"{{end}}

  url "{{.Homepage}}/releases/download/v#{version}/{{.Project}}_v#{version}_#{os}_#{arch}.tar.gz"
  name "Omnigraph"
  desc "{{.Description}}"
  homepage "{{.Homepage}}"
{{range .Programs}}
  binary "{{$.Project}}_v#{version}_#{os}_#{arch}/{{.}}"{{end}}

  # macOS refuses programs that are not signed and have this attribute.
  postflight do
    if OS.mac?
      system_command "/usr/bin/xattr", args: ["-dr", "com.apple.quarantine", staged_path.to_s]
    end
  end
end
