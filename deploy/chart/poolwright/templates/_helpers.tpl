{{/* name of all objects: that of the release, which is "poolwright" by custom. */}}
{{- define "poolwright.name" -}}
{{ contains "poolwright" .Release.Name | ternary .Release.Name (printf "%s-poolwright" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "poolwright.selector" -}}
app.kubernetes.io/name: poolwright
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "poolwright.labels" -}}
{{ include "poolwright.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "poolwright.scheme" -}}
{{ empty .Values.server.tls | ternary "HTTP" "HTTPS" }}
{{- end }}

{{/* unused are the resources of the sources that the configuration leaves out. */}}
{{- define "poolwright.unused" -}}
{{- $resources := dict
  "LLMD" (list "configmaps." "variantautoscalings.llmd.ai" "variantautoscalings/status.llmd.ai")
  "KTHENA" (list
    "modelroutes.networking.serving.volcano.sh" "modelservers.networking.serving.volcano.sh"
    "modelboosters.workload.serving.volcano.sh" "modelboosters/status.workload.serving.volcano.sh"
    "modelservings.workload.serving.volcano.sh" "modelservings/scale.workload.serving.volcano.sh"
    "autoscalingpolicies/status.workload.serving.volcano.sh")
  "LLMAZ" (list
    "openmodels.llmaz.io" "openmodels/status.llmaz.io"
    "backendruntimes.inference.llmaz.io" "backendruntimes/status.inference.llmaz.io"
    "playgrounds.inference.llmaz.io" "playgrounds/status.inference.llmaz.io" "playgrounds/scale.inference.llmaz.io"
    "services.inference.llmaz.io" "services/status.inference.llmaz.io" "services/scale.inference.llmaz.io")
-}}
{{- $unused := list -}}
{{- $sources := ((.Values.config).cluster).sources | default (keys $resources) -}}
{{- range $source, $some := $resources -}}
{{- if not (has $source $sources) }}{{ $unused = concat $unused $some }}{{ end -}}
{{- end -}}
{{ toJson $unused }}
{{- end }}
