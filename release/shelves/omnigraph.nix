# nix-build -E 'with import <nixpkgs> { }; callPackage ./omnigraph.nix { }'
{ lib, stdenv, fetchurl }:

let
  archives = {
{{- range .Archives}}
    {{name "nix" .Platform}} = {
      url = "{{.URL}}";
      sha256 = "{{.Sum}}";
    };
{{- end}}
  };
in
stdenv.mkDerivation {
  pname = "{{.Project}}";
  version = "{{.Number}}";
  src = fetchurl (archives.${stdenv.hostPlatform.system} or (throw "{{.Project}} {{.Number}} has no archive for ${stdenv.hostPlatform.system}"));
  dontConfigure = true;
  dontBuild = true;
  dontStrip = true;
  installPhase = ''
    runHook preInstall
    install -D -m 0755 -t $out/bin {{range $i, $p := .Programs}}{{if $i}} {{end}}{{$p}}{{end}}
    install -D -m 0644 -t $out/share/doc/{{.Project}} LICENSE THIRD-PARTY-LICENCES
    runHook postInstall
  '';
  meta = {
    description = "{{.Description}}";
    homepage = "{{.Homepage}}";
    license = lib.licenses.asl20;
    mainProgram = "omnigraph";
    platforms = builtins.attrNames archives;
  };
}
