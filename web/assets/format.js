// Numbers, times and durations as people read them. Numbers are written the same way
// everywhere, so that pages and files agree.

const locale = 'en-GB';
const formats = new Map();

function formatter(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(locale, options));
  return formats.get(key);
}

const none = '–';

const absent = (x) => x === null || x === undefined || Number.isNaN(Number(x));

// number has four significant digits; whole numbers have all of theirs.
export function number(x) {
  if (absent(x)) return none;
  const value = Number(x);
  if (Number.isInteger(value) || Math.abs(value) >= 10000) return formatter({ maximumFractionDigits: 0 }).format(value);
  return formatter({ maximumSignificantDigits: 4 }).format(value);
}

// money has two decimals, or none where they are lost in the amount.
export function money(x) {
  if (absent(x)) return none;
  const digits = Math.abs(x) >= 100000 ? 0 : 2;
  return formatter({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(x);
}

// signed is money with a sign.
export function signed(x) {
  if (absent(x)) return none;
  if (Math.abs(x) < 0.005) return '±0';
  return (x > 0 ? '+' : '−') + money(Math.abs(x));
}

// percent takes a share.
export function percent(x, digits = 1) {
  return absent(x) ? none : `${formatter({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(100 * x)} %`;
}

// share is percent for what is close to 100 %.
export function share(x) {
  return percent(x, 2);
}

// latency takes seconds.
export function latency(x) {
  if (absent(x)) return none;
  if (Math.abs(x) < 1) return `${formatter({ maximumSignificantDigits: 3 }).format(1000 * x)} ms`;
  if (Math.abs(x) < 120) return `${formatter({ maximumSignificantDigits: 3 }).format(x)} s`;
  return span(x);
}

// span is a length of time in seconds, in the two largest units that it has.
export function span(x) {
  if (absent(x)) return none;
  const total = Math.round(Number(x));
  if (Math.abs(x) < 60) return `${formatter({ maximumSignificantDigits: 3 }).format(x)} s`;
  const parts = [
    [Math.floor(total / 86400), 'd'],
    [Math.floor(total / 3600) % 24, 'h'],
    [Math.floor(total / 60) % 60, 'min'],
    [total % 60, 's'],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ');
}

// elapsed is a time since a start, in seconds, as 13:45 or 2 d 03:15.
export function elapsed(x) {
  const days = Math.floor(x / 86400);
  const two = (n) => String(Math.floor(n)).padStart(2, '0');
  const seconds = x % 60;
  const clock = `${two((x / 3600) % 24)}:${two((x / 60) % 60)}${seconds ? `:${two(seconds)}` : ''}`;
  return days ? `${days} d ${clock}` : clock;
}

// seconds reads a duration of the API, such as 0.800s; null where there is none.
export function seconds(text) {
  return text === null || text === undefined || text === '' ? null : Number(String(text).replace(/s$/, ''));
}

// duration writes seconds as a duration of the API.
export function duration(x) {
  return `${Number(Number(x).toFixed(9))}s`;
}

// moment is a time of the API as date and time of day; times are of the loop's clock, in UTC.
export function moment(text, date = true) {
  if (!text) return none;
  const [day, clock] = new Date(text).toISOString().split('T');
  return date ? `${day} ${clock.slice(0, 8)}` : clock.slice(0, 8);
}

// plural is a number with its noun.
export function plural(n, noun) {
  return `${number(n)} ${noun}${Number(n) === 1 ? '' : 's'}`;
}
