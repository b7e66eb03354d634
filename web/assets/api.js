// The API that is served beside the pages.

import { askForToken, token } from './token.js';

// Problem is an error of the API: code is that of gRPC, violations are {field, description}, by the
// path of a field.
export class Problem extends Error {
  constructor(status, answer) {
    super(answer?.message || `The service answered with status ${status}.`);
    this.status = status;
    this.code = answer?.code;
    this.violations = (answer?.details ?? []).flatMap((d) => d.fieldViolations ?? []);
  }
}

function options(body, signal) {
  const headers = { Accept: 'application/json' };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body === undefined) return { signal, headers };
  const text = typeof body === 'string';
  headers['Content-Type'] = text ? 'application/yaml' : 'application/json';
  return { method: 'POST', signal, headers, body: text ? body : JSON.stringify(body) };
}

async function send(path, body, signal) {
  const shown = token();
  let response;
  try {
    response = await fetch(path, options(body, signal));
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { message: 'The service does not answer.' });
  }
  if (response.ok) return response;
  if (response.status === 401 && (token() !== shown || await askForToken())) return send(path, body, signal);
  let answer = null;
  try {
    answer = await response.json();
    answer = answer.error ?? answer; // of a stream
  } catch {
    // The status says enough.
  }
  throw new Problem(response.status, answer);
}

// ask gets a path or, with a body, posts to it. A text is YAML or JSON, an object a message.
export async function ask(path, body, signal) {
  return (await send(path, body, signal)).json();
}

// stream asks for lines of JSON, and yields the messages as they come.
export async function* stream(path, { body, signal } = {}) {
  const reader = (await send(path, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = value.split('\n');
      while (lines.length > 1) {
        parts.push(lines.shift());
        const line = parts.join('');
        parts = [];
        if (line.trim()) yield message(line);
      }
      parts.push(lines[0]);
    }
  } finally {
    reader.cancel().catch(() => {}); // it is over either way
  }
}

function message(line) {
  const { result, error } = JSON.parse(line);
  if (error) throw new Problem(200, error);
  return result;
}

// workloadPath is where a workload is asked about, such as /v1/workloads/prod/chat.
export function workloadPath(name) {
  return `/v1/workloads/${name.split('/').map(encodeURIComponent).join('/')}`;
}

// words says what went wrong.
export const words = (error) => (error instanceof Problem ? error.message : `Something went wrong: ${error.message}`);
