/** Replaces a masked value. */
export const MASK = "•••";

/**
 * A payload without personal data: addresses, names, phone and card numbers. Unknown fields are masked, as
 * providers add some unannounced. Ids, states, times, prices and products stay.
 */
export function maskPayload(payload: unknown): unknown {
  return maskValue(payload, { name: "", holder: "", isPersonal: false });
}

type Field = {
  /** The normalized key, e.g. `customerdetails`. */
  name: string;
  /** The nearest named ancestor. */
  holder: string;
  /** Whether an ancestor describes a person. */
  isPersonal: boolean;
};

function maskValue(value: unknown, field: Field): unknown {
  switch (typeof value) {
    case "string":
      return isHarmless(value, field) ? withoutQuery(value) : MASK;
    case "number":
      return field.isPersonal || isCardNumber(String(value)) ? MASK : value;
    case "object":
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((child) => maskValue(child, field));
      return Object.fromEntries(
        Object.entries(value).map(([key, child], at) => [
          shownName(key, at),
          maskValue(child, childField(field, key)),
        ]),
      );
    default:
      return value;
  }
}

/** Longer than any of the providers' own. Buyers can choose those of custom data: one could be searched for minutes. */
const MAX_KEY_LENGTH = 64;

function childField({ name: parentName, isPersonal }: Field, key: string): Field {
  const name = key.toLowerCase().replace(/[^a-z0-9]/g, "");
  return {
    name,
    holder: parentName,
    isPersonal:
      (isPersonal && !isId(key)) || key.length > MAX_KEY_LENGTH || isPersonalName(name, key, parentName),
  };
}

/** Keys may be personal too, where people can choose their own. */
function shownName(key: string, at: number): string {
  return /^[\w.:-]{1,64}$/.test(key) && !isPhoneNumber(key) && !isCardNumber(key) ? key : `${MASK} ${at + 1}`;
}

const PERSONAL =
  /e?mail$|address(?!.*(collection|fields)$)|phone|mobile|^fax|^card|card$|cardholder|last4|lastfour|iban|bic$|^bank|accountnumber|routingnumber|sepadebit|fingerprint|^exp(month|year)|expiry|tax(id|number)|^vat|avatar|^ip$|ipaddress|useragent|birth|gender|^dob$|comment|^note|^memo|message|password|secret|token|signature|^custom(data|field)|metadata|shippingdetails|billingdetails|collectedinformation|^contact|passthrough/;

const NAMES = /name$|^(first|last|given|family|full|maiden|nick|sur)name|^person$|^holder$|^company$/;

/** Objects whose names are not personal. */
const NAMED_OBJECTS =
  /^(product|price|plan|item|discount|variant|benefit|meter|taxrate|coupon|promotion|store|tax)s?$/;
const NAMES_OF_OBJECTS = /^(product|variant|price|plan|event|store|tax|discount|currency|method)name$/;

function isPersonalName(name: string, key: string, holder: string): boolean {
  if (isId(key) && !/tax|vat/.test(name)) return false;
  if (PERSONAL.test(name)) return !SETTINGS.test(holder);
  if (!NAMES.test(name) || NAMES_OF_OBJECTS.test(name)) return false;
  return !(NAMED_OBJECTS.test(holder) && /^(nick)?name$/.test(name));
}

/** The payment methods offered, not the one used. */
const SETTINGS = /^paymentmethodoptions$/;

function isId(key: string): boolean {
  return /(^|_|-)id$|[a-z]Id$|^ID$/.test(key);
}

const DESCRIPTIONS = /^(name|nickname|description|.*name|title)$/;

function isHarmless(text: string, { name, holder, isPersonal }: Field): boolean {
  if (text === "") return true;
  if (isPersonal || /@|%40/.test(text) || isIpAddress(text)) return false;
  if (isPhoneNumber(text)) return false;
  if (isCardNumber(text) && !name.endsWith("id")) return false;
  if (/^[\w.:+\-/#=,%~?&;()[\]]{1,500}$/.test(text)) return true;
  // Text with spaces may have been written by a person.
  const isObjectName = NAMED_OBJECTS.test(holder) || NAMES_OF_OBJECTS.test(name);
  return (isObjectName && DESCRIPTIONS.test(name)) || STATES.test(name) || isTime(text);
}

/** Lemon Squeezy writes them out, e.g. "On Trial". */
const STATES = /^statusformatted$/;

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.+Z -]*$/.test(text);
}

/** With a country code, with brackets, slashes or spaces, or in North America's three groups. */
function isPhoneNumber(text: string): boolean {
  return (
    /^\+\d[\d ().\-/]{5,}$/.test(text) ||
    (/^[\d ().\-/]{7,}$/.test(text) && /[ ()/]/.test(text)) ||
    /^\d{3}[-.]\d{3}[-.]\d{4}$/.test(text)
  );
}

/** ISO/IEC 7812: 13 to 19 digits, of which the last one checks the others. */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/[ -]/g, "");
  if (!/^[2-6]\d{12,18}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function isIpAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /^[\da-f]{0,4}(:[\da-f]{0,4}){3,7}$/i.test(text);
}

/** A link's query string may contain credentials. */
function withoutQuery(text: string): string {
  return /^https?:\/\//.test(text) ? text.replace(/[?#].*$/s, `?${MASK}`) : text;
}
