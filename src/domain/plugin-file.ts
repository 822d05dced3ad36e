/** Whether an entry of `src/plugins/` is a plugin. A plugin's parts go into a subfolder. */
export function isPluginFile(entry: { name: string; isFile(): boolean }): boolean {
  return entry.isFile() && /^[^.].*(?<!\.d)\.ts$/.test(entry.name);
}
