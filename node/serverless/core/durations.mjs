// Lengths of time without the core: milliseconds, or text such as '90s', '5m', '1h30m' and 'PT5M'.
import errors from './errors.mjs';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SHORT = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const ISO = /^P(?:(?<d>\d+)D)?(?:T(?=\d)(?:(?<h>\d+)H)?(?:(?<m>\d+)M)?(?:(?<s>\d+(?:\.\d+)?)S)?)?$/;

function lengthOf(text) {
  const iso = text.length > 1 ? ISO.exec(text) : null;
  if (iso) return Object.entries(iso.groups).reduce((sum, [unit, count]) => sum + Number(count ?? 0) * UNITS[unit], 0);
  if (!SHORT.test(text)) return Number.NaN;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit],
    0,
  );
}

/** Milliseconds of a length; undefined stays undefined. */
function millis(name, value) {
  if (value === undefined || value === null) return undefined;
  const length = typeof value === 'string' ? lengthOf(value) : value;
  if (typeof length === 'number' && Number.isFinite(length) && length >= 0) return length;
  throw new errors.OJSValidationError(
    `${name} must be zero or more milliseconds, or text such as '5m' or 'PT5M'; got '${String(value).slice(0, 40)}'`,
  );
}

export default { millis };
