type Entry = { name: string; isFile(): boolean };

/** The plugins among the entries of `src/plugins/`, by name. A plugin's parts go into a subfolder. */
export function pluginFiles(entries: readonly Entry[]): string[] {
  const files = entries.filter((entry) => entry.isFile() && /^[^.].*(?<!\.d)\.ts$/.test(entry.name));
  return files.map(({ name }) => name).sort();
}
