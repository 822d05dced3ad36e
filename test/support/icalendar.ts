type Property = { name: string; parameters: string; value: string };
type Component = { name: string; properties: Property[]; components: Component[] };

/** The one calendar of a stream, read as strictly as RFC 5545 is written. @throws Error naming the line that is wrong */
export function parseCalendar(bytes: Buffer): Component {
  const lines = unfolded(bytes).map(propertyOf);
  const root: Component = { name: "", properties: [], components: [] };
  const open = [root];
  for (const property of lines) {
    const current = open.at(-1) as Component;
    if (property.name === "BEGIN") {
      const component = { name: property.value, properties: [], components: [] };
      current.components.push(component);
      open.push(component);
    } else if (property.name === "END") {
      if (current.name !== property.value) throw new Error(`END:${property.value} within ${current.name}`);
      open.pop();
    } else {
      if (current === root) throw new Error(`${property.name} outside of any component`);
      if (current.components.length > 0) throw new Error(`${property.name} after a component`);
      current.properties.push(property);
    }
  }
  const [calendar, ...more] = root.components;
  if (open.length > 1 || !calendar || more.length > 0 || calendar.name !== "VCALENDAR") {
    throw new Error("not exactly one whole calendar");
  }
  assertComplete(calendar);
  return calendar;
}

/** The value of a property that there is exactly once. */
export function valueIn({ name, properties }: Component, property: string): string {
  const [found, ...more] = properties.filter((one) => one.name === property);
  if (!found || more.length > 0) throw new Error(`${name}: not exactly one ${property}`);
  return found.value;
}

/** Section 3.3.11: what a TEXT value says. */
export function textOf(component: Component, property: string): string {
  const value = valueIn(component, property);
  if (!/^(?:[^\\;,]|\\[\\;,nN])*$/u.test(value)) throw new Error(`not a TEXT: ${value}`);
  return value.replace(/\\(.)/gu, (_, escaped) => (escaped.toLowerCase() === "n" ? "\n" : escaped));
}

/** Section 3.1: lines end in CRLF, are at most 75 octets long, and are folded between characters. */
function unfolded(bytes: Buffer): string[] {
  const physical = bytes.toString("latin1").split("\r\n");
  if (physical.pop() !== "") throw new Error("the last line does not end in CRLF");
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lines: string[] = [];
  for (const octets of physical) {
    const line = strict.decode(Buffer.from(octets, "latin1"));
    if (octets.length > 75) throw new Error(`${octets.length} octets: ${line}`);
    if (/(?!\t)\p{Cc}/u.test(line)) throw new Error(`control character: ${JSON.stringify(line)}`);
    if (/^[ \t]/.test(line)) lines.push(`${lines.pop()}${line.slice(1)}`);
    else lines.push(line);
  }
  return lines;
}

function propertyOf(line: string): Property {
  const [, name, parameters, value] =
    /^([A-Z0-9-]+)((?:;[A-Z0-9-]+=(?:[^";:,]*|"[^"]*"))*):(.*)$/u.exec(line) ?? [];
  if (name === undefined || parameters === undefined || value === undefined)
    throw new Error(`no property: ${line}`);
  return { name, parameters, value };
}

const UTC = /^\d{8}T\d{6}Z$/;

/** Sections 3.6 and 3.6.1, and what section 3.2.1 of RFC 5546 wants of what is published. */
function assertComplete(calendar: Component): void {
  if (valueIn(calendar, "VERSION") !== "2.0") throw new Error("VERSION is not 2.0");
  valueIn(calendar, "PRODID");
  valueIn(calendar, "METHOD");
  for (const event of calendar.components) {
    if (event.name !== "VEVENT") throw new Error(`unexpected ${event.name}`);
    for (const name of ["UID", "DTSTAMP", "DTSTART", "SUMMARY", "SEQUENCE"]) valueIn(event, name);
    for (const { name, value } of event.properties) {
      if (/^(DTSTAMP|DTSTART|LAST-MODIFIED|CREATED)$/.test(name) && !UTC.test(value)) {
        throw new Error(`${name}: ${value} is not a time in UTC`);
      }
    }
  }
  const uids = calendar.components.map((event) => valueIn(event, "UID"));
  if (new Set(uids).size !== uids.length) throw new Error("a UID is used twice");
}
