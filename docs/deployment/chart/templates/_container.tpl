{{- /* What both containers have: memory, rights and volumes. */ -}}
{{- define "omnigraph.container" -}}
env:
  - { name: GOMEMLIMIT, value: "{{ div (mul (int .Values.memory) 9) 10 }}MiB" }
  {{- if .Values.tokensSecret }}
  - { name: OMNIGRAPH_TOKENS_FILE, value: /secrets/tokens.yaml }
  {{- end }}
resources: { requests: { cpu: {{ .Values.cpu | quote }}, memory: {{ .Values.memory }}Mi }, limits: { memory: {{ .Values.memory }}Mi } }
securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
volumeMounts:
  {{- range $i, $path := keys .Values.files | sortAlpha }}
  - { name: files, mountPath: "/app/{{ $path }}", subPath: file-{{ $i }}, readOnly: true }
  {{- end }}
  - { name: data, mountPath: /app/data }
  - { name: temporary, mountPath: /tmp }
  {{- if .Values.tokensSecret }}
  - { name: tokens, mountPath: /secrets, readOnly: true }
  {{- end }}
{{- end }}
