/// <reference path="./pg-utils.d.ts" />
import utils from "pg/lib/utils.js";

/**
 * A parameter as text, so that it fails here and not in the driver, which would give up the whole connection.
 * @throws Error for an object that JSON cannot hold
 */
export function sendableValue(value: unknown): unknown {
  return Array.isArray(value) ? value : utils.prepareValue(value);
}
