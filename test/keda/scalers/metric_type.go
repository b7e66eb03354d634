package scalers

// externalMetricType is declared in azure_queue_scaler.go of KEDA.
const externalMetricType = "External"
