// What file.ts uses of Node. With the types of all of Node, setTimeout and others would return something else in the rest of
// the client.
declare module "node:fs/promises" {
  export interface FileHandle {
    appendFile(data: string): Promise<void>;
    truncate(size: number): Promise<void>;
    sync(): Promise<void>;
    datasync(): Promise<void>;
    stat(): Promise<{ size: number; ino: number }>;
    close(): Promise<void>;
  }
  export function mkdir(path: string, options: { recursive: true; mode: number }): Promise<unknown>;
  export function open(path: string, flags: string, mode?: number): Promise<FileHandle>;
  export function readFile(path: string, encoding: "utf8"): Promise<string>;
  export function rename(from: string, to: string): Promise<void>;
  export function rm(path: string, options: { force: true }): Promise<void>;
  export function stat(path: string): Promise<{ size: number; ino: number }>;
}
declare module "node:path" {
  export function join(...parts: string[]): string;
}
declare module "node:crypto" {
  export function createHash(name: string): { update(text: string): { digest(encoding: "hex"): string } };
}
