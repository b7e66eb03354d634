// Package whatif answers simulations that come as messages: it puts fleet, traffic,
// autoscalers and the bound by hindsight together.
package whatif
