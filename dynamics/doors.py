class Doors: pass
