/** One line for the operator: which variable, what is wrong, and an example or what to do. */
export class ConfigError extends Error {
  override name = "ConfigError";
}
