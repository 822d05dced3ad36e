import { successorOf, type VersionCatalog, type VersionDefinition } from "../../domain/api-version.ts";

export type DeprecationFormat = "simple" | "rfc";

/** The headers of one version's responses. */
export type VersionHeaders = {
  /** Name and value. */
  fixed: readonly (readonly [string, string])[];
  /** The successor's URL prefix, ending in a slash; `null`: no successor. */
  successorBase: string | null;
};

/** Of every response that has the form of this version, whatever was requested. */
export function fixedHeadersOf(
  name: string,
  { definitions }: VersionCatalog,
  format: DeprecationFormat,
): [string, string][] {
  const definition = definitions.get(name);
  return [["x-api-version", name], ...(definition ? retirement(definition, format) : [])];
}

/** @param appUrl the public origin, without a trailing slash */
export function headersByVersion(
  catalog: VersionCatalog,
  appUrl: string,
  format: DeprecationFormat,
): Map<string, VersionHeaders> {
  return new Map(
    [...catalog.definitions.keys()].map((name) => {
      const successor = successorOf(name, catalog);
      return [
        name,
        {
          fixed: fixedHeadersOf(name, catalog, format),
          successorBase: successor === null ? null : `${appUrl}/api/${successor}/`,
        },
      ];
    }),
  );
}

function retirement(definition: VersionDefinition, format: DeprecationFormat): [string, string][] {
  const { deprecated, deprecatedAt, sunset } = definition;
  const headers: [string, string][] = [];
  if (deprecated) headers.push(["deprecation", format === "simple" ? "true" : structuredDate(deprecatedAt)]);
  if (sunset) headers.push(["sunset", format === "simple" ? sunset : new Date(sunset).toUTCString()]);
  return headers;
}

/** RFC 9745. For an unknown deprecation date, the epoch: past, and earlier than any sunset. */
function structuredDate(day = "1970-01-01"): string {
  return `@${Date.parse(day) / 1000}`;
}

/** RFC 8288. @param rest path and query as sent; characters that could end the URL early are encoded */
export function successorLink(base: string, rest: string): string {
  const fragment = rest.indexOf("#");
  const address = fragment === -1 ? rest : rest.slice(0, fragment);
  return `<${base}${UNSAFE.test(address) ? encodeUnsafe(address) : address}>; rel="successor-version"`;
}

/** Not allowed in a URI by RFC 3986. */
const UNSAFE = /[^!$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/;

function encodeUnsafe(address: string): string {
  return address.toWellFormed().replace(new RegExp(UNSAFE, "gu"), encodeURIComponent);
}
